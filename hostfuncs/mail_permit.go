package hostfuncs

import (
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

// permit fills in the server and the sender, which are the operator's, and decides whether c may write to everybody that a letter
// goes to.
func (l *letter) permit(c Call) error {
	m := c.Grants.Mail
	if m.Server == "" {
		return ungranted(c, toolabi.FuncMailSend, "a mail server", fmt.Sprintf("--mail smtps://HOST,from=ADDRESS --mail-to %s", l.recipients()[0]))
	}
	if err := m.validate(); err != nil {
		return fmt.Errorf("mail_send: the grant: %w", err) // nobody but the host can have made it
	}
	var err error
	if l.server, err = parseMailServer(m.Server); err != nil {
		return fmt.Errorf("mail_send: the grant: %w", err)
	}
	if l.from, err = parseAddress(m.From); err != nil {
		return fmt.Errorf("mail_send: the grant: %w", err)
	}
	l.user, l.secret = m.User, m.Secret
	for _, a := range l.recipients() {
		flag := fmt.Sprintf("--mail-to %s", a)
		if !a.among(m.To) {
			return ungranted(c, toolabi.FuncMailSend, "mail to "+a.String(), flag)
		}
		if len(c.Targets) > 0 && !a.among(c.Targets) {
			return toolabi.NewError(toolabi.Denied,
				fmt.Sprintf("mail_send: the module's manifest does not name %s among its targets; %s cannot widen that", a, flag))
		}
	}
	if l.secret != "" {
		_, err = c.granted(toolabi.FuncMailSend, l.secret, mailServer(l.server))
	}
	return err
}
