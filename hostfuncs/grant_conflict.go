package hostfuncs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// GrantKind says what of the grants can be only one thing.
type GrantKind string

// The kinds, as people read them.
const (
	GrantedDir       GrantKind = "directory"
	GrantedSecret    GrantKind = "secret"
	GrantedConfig    GrantKind = "setting"
	GrantedWorkspace GrantKind = "workspace"
	GrantedMail      GrantKind = "mail account"
)

// GrantConflictError says that what can be only one thing was granted as two: a name for two directories, for two sources of a
// secret or with two values, two workspaces, two mail accounts. Which one a module would get must not depend on an order.
type GrantConflictError struct {
	Kind GrantKind
	// Name is what was granted, "" where there is only one of the kind.
	Name string
	// Has is what was granted first, Wants the other one, cleaned.
	Has, Wants string
}

// Error names both.
func (e *GrantConflictError) Error() string {
	what := strings.TrimSpace(string(e.Kind) + " " + e.Name)
	return fmt.Sprintf("%s is granted as %s and as %s", what, e.Has, e.Wants)
}

func conflict(kind GrantKind, name, has, wants string) *GrantConflictError {
	return &GrantConflictError{Kind: kind, Name: name, Has: toolabi.CleanLine(has, 300), Wants: toolabi.CleanLine(wants, 300)}
}

// Conflict says why what o grants cannot be added to g: a *GrantConflictError, or nil. The workspace of a run may move: whoever
// moves it leaves it out of o.
func (g Grants) Conflict(o Grants) error {
	for _, d := range o.Dirs {
		if have, ok := g.Dir(d.Name); ok && have.Path != d.Path {
			return conflict(GrantedDir, d.Name, have.Path, d.Path)
		}
	}
	for _, s := range o.Secrets {
		if have, ok := g.Secret(s.Name); ok && have.Source != s.Source {
			return conflict(GrantedSecret, s.Name, have.Source, s.Source)
		}
	}
	for _, c := range o.Config {
		if have, ok := g.Setting(c.Module, c.Key); ok && have != c.Value {
			return conflict(GrantedConfig, c.Module+"."+c.Key, shortValue(have), shortValue(c.Value))
		}
	}
	if a, b := g.Workspace.Path, o.Workspace.Path; a != "" && b != "" && a != b {
		return conflict(GrantedWorkspace, "", a, b)
	}
	if a, b := g.Mail, o.Mail; a.account() != b.account() && a.account() != (MailGrant{}).account() && b.account() != (MailGrant{}).account() {
		return conflict(GrantedMail, "", a.words(), b.words())
	}
	return nil
}

func shortValue(v string) string { return strconv.Quote(toolabi.CutText(v, 80)) }

// words are the account as people see it.
func (m MailGrant) words() string {
	w := m.Server + " from " + m.From
	if m.User != "" {
		w += " as " + m.User
	}
	if m.Secret != "" {
		w += " with secret " + m.Secret
	}
	return w
}
