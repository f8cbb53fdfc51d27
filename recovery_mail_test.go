package wrun_test

import (
	"bufio"
	"context"
	"errors"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// What the process that is killed while it sends mail is told.
const (
	envMailFile   = "WRUN_RECOVERY_MAIL_FILE"
	envMailServer = "WRUN_RECOVERY_MAIL_SERVER"
)

const letterToAnn = `{"to":["ann@example.com"],"subject":"Order 7","text":"Thank you."}`

// twoMails drives a run of two mails on a journal in a file: first one to Ann under the given tool, then one to Bob.
func twoMails(t *testing.T, k *kit, file, server, tool string) (runtime.Result, error) {
	t.Helper()
	store := openBolt(t, file)
	defer store.Close()
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{Driver: "two mails", Input: []byte("{}"), Modules: k.modules("mailer"), Grants: hostfuncs.Grants{
		Mail: hostfuncs.MailGrant{Server: server, From: "desk@example.com", To: []string{"@example.com"}},
	}}
	if _, err := e.Start(t.Context(), "r", spec, k.wasm, true); err != nil {
		return runtime.Result{}, err
	}
	return e.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		out, err := r.Call(ctx, "ann", tool, []byte(letterToAnn))
		if err != nil {
			return nil, err
		}
		_, err = r.Call(ctx, "bob", "mailer.send", []byte(strings.ReplaceAll(letterToAnn, "ann@", "bob@")))
		return out, err
	}}})
}

// resolveMail says what became of the step that is in doubt.
func resolveMail(t *testing.T, k *kit, file string, step journal.Step, verdict runtime.Resolution) {
	t.Helper()
	store := openBolt(t, file)
	defer store.Close()
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Resolve(t.Context(), "r", step, verdict); err != nil {
		t.Fatal(err)
	}
}

// inbox are the messages of a server: who each is to, and its Message-ID.
func inbox(t *testing.T, s *mailserver.Server) (to, ids []string) {
	t.Helper()
	for _, m := range s.Messages() {
		read, err := mail.ReadMessage(strings.NewReader(string(m.Data)))
		if err != nil {
			t.Fatal(err)
		}
		to, ids = append(to, m.To[0]), append(ids, read.Header.Get("Message-Id"))
	}
	return to, ids
}

func startMailServer(t *testing.T, faults ...mailserver.Fault) *mailserver.Server {
	t.Helper()
	s, err := mailserver.Start(mailserver.Config{Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// said is what a person says happened.
func said(t *testing.T, k *kit, text string) runtime.Resolution {
	t.Helper()
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		if f.Name == toolabi.FuncMailSend {
			reply, err := f.ParseReply([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return runtime.Resolution{Happened: true, Reply: reply, By: "test"}
		}
	}
	t.Fatal("there is no mail_send")
	return runtime.Resolution{}
}

func TestAMailWhoseReplyWasLostIsNotSentAgain(t *testing.T) {
	k := newKit(t, "tools/mailer")
	for name, c := range map[string]struct {
		at       mailserver.Moment
		happened bool
		arrived  int // messages to Ann in the end
	}{
		"the server took it over":      {mailserver.Taken, true, 1},
		"it broke off at the end":      {mailserver.End, false, 1},
		"a person is wrong about that": {mailserver.Taken, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := startMailServer(t, mailserver.Fault{At: c.at, Times: 1, Close: true})
			file := filepath.Join(t.TempDir(), "journal.db")
			before := 0
			for range 3 { // resuming does not guess
				_, err := twoMails(t, k, file, s.URL(), "mailer.send")
				var u *runtime.UncertainError
				if !errors.As(err, &u) || u.Step != "ann/1" || u.Intent.Note != "to ann@example.com: Order 7" {
					t.Fatalf("got %v, want ann/1 in doubt", err)
				}
				if n := len(s.Messages()); before != 0 && n != before {
					t.Fatalf("resuming sent mail: %d messages", n)
				} else {
					before = n
				}
			}
			verdict := runtime.Resolution{Now: true, By: "test"}
			if c.happened {
				_, ids := inbox(t, s)
				verdict = said(t, k, `{"message_id":"`+ids[0]+`"}`)
			}
			resolveMail(t, k, file, "ann/1", verdict)
			res, err := twoMails(t, k, file, s.URL(), "mailer.send")
			if err != nil {
				t.Fatal(err)
			}
			to, ids := inbox(t, s)
			ann := strings.Count(strings.Join(to, " "), "ann@example.com")
			if ann != c.arrived || len(to) != c.arrived+1 || to[len(to)-1] != "bob@example.com" {
				t.Errorf("the server has mail to %q, want %d to Ann and one to Bob", to, c.arrived)
			}
			if want := `{"message_id":"` + ids[0] + `"}`; string(res.Output) != want {
				t.Errorf("the run ended with %s, want %s", res.Output, want)
			}
			if ann == 2 && ids[0] != ids[1] {
				t.Errorf("the two have the ids %q, want the same", ids)
			}
		})
	}
}

func TestAMailThatMayComeTwiceIsSentAgainUnderItsId(t *testing.T) {
	k := newKit(t, "tools/mailer")
	s := startMailServer(t, mailserver.Fault{At: mailserver.Taken, Times: 1, Close: true})
	res, err := twoMails(t, k, filepath.Join(t.TempDir(), "journal.db"), s.URL(), "mailer.notify")
	if err != nil {
		t.Fatal(err)
	}
	to, ids := inbox(t, s)
	if want := "ann@example.com ann@example.com bob@example.com"; strings.Join(to, " ") != want || ids[0] != ids[1] || string(res.Output) != `{"message_id":"`+ids[0]+`"}` {
		t.Errorf("the server has mail to %q with ids %q, want %s, the first two with one id", to, ids, want)
	}
}

// A process is killed while the server holds back what became of a message.
func TestAProcessIsKilledWhileItSendsMail(t *testing.T) {
	if file := os.Getenv(envMailFile); file != "" {
		_, err := twoMails(t, newKit(t, "tools/mailer"), file, os.Getenv(envMailServer), os.Args[len(os.Args)-1])
		t.Fatalf("nobody has killed this process: %v", err)
	}
	k := newKit(t, "tools/mailer")
	for name, c := range map[string]struct {
		tool  string
		at    mailserver.Moment
		taken int // messages before the kill
		doubt bool
	}{
		"once, taken over":            {"mailer.send", mailserver.Taken, 1, true},
		"may be repeated, taken over": {"mailer.notify", mailserver.Taken, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := startMailServer(t, mailserver.Fault{At: c.at, Times: 1, Stall: true, Reply: ""})
			file := filepath.Join(t.TempDir(), "journal.db")
			killMailer(t, s, file, c.tool, c.at)
			if n := len(s.Messages()); n != c.taken {
				t.Fatalf("the server has %d messages, want %d", n, c.taken)
			}
			_, err := twoMails(t, k, file, s.URL(), c.tool)
			var u *runtime.UncertainError
			if errors.As(err, &u) != c.doubt || !c.doubt && err != nil {
				t.Fatalf("resumed with %v, in doubt: want %v", err, c.doubt)
			}
			if c.doubt {
				if n := len(s.Messages()); n != c.taken {
					t.Errorf("resuming sent mail: %d messages, want %d", n, c.taken)
				}
				return
			}
			to, ids := inbox(t, s)
			if want := "ann@example.com ann@example.com bob@example.com"; strings.Join(to, " ") != want || ids[0] != ids[1] {
				t.Errorf("the server has mail to %q with ids %q, want %s, the first two with one id", to, ids, want)
			}
			if first, again := s.Messages()[0], s.Messages()[1]; string(first.Data) != string(again.Data) {
				t.Errorf("sent\n%s\nand then\n%s\nwant the same bytes", first.Data, again.Data)
			}
		})
	}
}

// killMailer starts a process that sends mail, and kills it once the server has come to a moment.
func killMailer(t *testing.T, s *mailserver.Server, file, tool string, at mailserver.Moment) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestAProcessIsKilledWhileItSendsMail$", "--", tool)
	cmd.Env = append(os.Environ(), envMailFile+"="+file, envMailServer+"="+s.URL())
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		var said strings.Builder
		for in := bufio.NewScanner(output); in.Scan(); {
			said.WriteString(in.Text() + "\n")
		}
		ended <- said.String()
	}()
	select {
	case <-s.Stalled():
	case said := <-ended:
		t.Fatalf("the process ended by itself:\n%s", said)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-ended
	cmd.Wait() // killed
}
