package main

import (
	"fmt"
	"net/mail"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wrun-dev/wrun/internal/mailserver"
)

type mailKey struct{}

// mailCommand controls a real mail server, which wants desk to log in with let-me-in-please: mail start (it is in $MAIL, and drops the
// reply to the first message that it takes over), mail has N (the Message-ID of the last one is in $MAIL_ID then).
func mailCommand(ts *testscript.TestScript, neg bool, args []string) {
	slot := ts.Value(mailKey{}).(**mailserver.Server)
	switch args[0] {
	case "start":
		s, err := mailserver.Start(mailserver.Config{User: "desk", Password: "let-me-in-please",
			Faults: []mailserver.Fault{{At: mailserver.Taken, Times: 1, Close: true}}})
		ts.Check(err)
		ts.Defer(func() { s.Close() })
		ts.Setenv("MAIL", s.URL())
		*slot = s
	case "has":
		all := (*slot).Messages()
		if got := fmt.Sprint(len(all)); got != args[1] {
			ts.Fatalf("the mail server has %s messages, want %s", got, args[1])
		}
		if len(all) > 0 {
			m, err := mail.ReadMessage(strings.NewReader(string(all[len(all)-1].Data)))
			ts.Check(err)
			ts.Setenv("MAIL_ID", m.Header.Get("Message-Id"))
		}
	default:
		ts.Fatalf("mail: unknown word %q", args[0])
	}
}
