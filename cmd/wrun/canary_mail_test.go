package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/toolabi"
)

// mailForms are what a mail server makes of a password that it repeats, on one line each.
var mailForms = map[string]func(v string) string{
	"plain":  func(v string) string { return v },
	"base64": func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"login":  func(v string) string { return base64.StdEncoding.EncodeToString([]byte("\x00desk\x00" + v)) },
}

// mailSays are the moments at which it repeats that, and whether a person is told what it says.
var mailSays = []struct {
	at    mailserver.Moment
	reply string
	told  bool
}{
	{mailserver.Greeting, "220 hello %s\r\n", false},
	{mailserver.Greeting, "554 5.7.1 no service for %s\r\n", true},
	{mailserver.Greeting, "%s\r\n", false},
	{"EHLO", "250-here\r\n250-AUTH PLAIN %s\r\n250 X-%[1]s\r\n", false},
	{"EHLO", "550 5.7.1 go away, %s\r\n", true},
	{"AUTH", "235 2.7.0 welcome %s\r\n", false},
	{"AUTH", "535 5.7.8 %s is wrong\r\n", false}, // nothing of a login is told
	{"AUTH", "334 %s\r\n", false},
	{"MAIL", "451 4.3.0 %s, later\r\n", true},
	{"RCPT", "550-5.1.1 not for\r\n550 5.1.1 %s\r\n", true},
	{"DATA", "554 5.5.1 %s\r\n", true},
	{mailserver.End, "554 5.7.1 rejected: %s\r\n", true},
	{mailserver.Taken, "250 2.0.0 taken from %s\r\n", false},
	{mailserver.Taken, "%s\r\n", false},
}

// mails sends a mail through a server that says something once it is spoken to, with the secret as its password.
func (n *nest) mails(fault mailserver.Fault) error {
	s, err := mailserver.Start(mailserver.Config{User: "desk", Password: canaryValue, Faults: []mailserver.Fault{fault}})
	if err != nil {
		n.a.t.Fatal(err)
	}
	defer s.Close()
	n.grants.Mail = hostfuncs.MailGrant{Server: s.URL(), From: "desk@example.com", User: "desk", Secret: "key", To: []string{"*"}}
	n.grants.Secrets[0].Origins = append(n.grants.Secrets[0].Origins, s.URL())
	n.tools["once"] = asking(toolabi.FuncMailSend, toolabi.MailSendRequest{To: []string{"ann@example.com"}, Subject: "Order 7", Text: "Thank you."})
	err = n.drives()
	if len(s.Commands()) == 0 && fault.At != mailserver.Greeting {
		n.a.t.Errorf("the mail server was told nothing: %s", n.out.String())
	}
	return err
}

// A mail server that repeats the password, wherever it can say something.
func TestTheCanaryIsNotInWhatAMailServerSays(t *testing.T) {
	a, i := newUnopened(t), 0
	for form, make := range mailForms {
		for _, says := range mailSays {
			i++
			what := fmt.Sprintf("%s: %.20q, %s", says.at, says.reply, form)
			if says.told {
				core := fmt.Sprintf("%s%02dand%02d", controlCore, i, i)
				control := newNest(t, a, fmt.Sprintf("control%d", i))
				control.mails(mailserver.Fault{At: says.at, Times: 1, Reply: fmt.Sprintf(says.reply, make(around(core)))})
				control.store.Close()
				if n := needlesOf(core); n.in(control.out.Bytes()) == "" || n.below(t, a.dir, nil) == nil {
					t.Errorf("%s: the control is not told, or not written: %s", what, control.out.String())
				}
			}
			n := newNest(t, a, fmt.Sprintf("r%d", i))
			err := n.mails(mailserver.Fault{At: says.at, Times: 1, Reply: fmt.Sprintf(says.reply, make(canaryValue))})
			n.store.Close()
			if says.told && !strings.Contains(n.out.String(), "[secret:key]") {
				t.Errorf("%s: there is no mark: %s", what, n.out.String())
			}
			a.absent(what, told{err: err, output: n.out.String()})
		}
	}
}
