package mailserver_test

import (
	"net/smtp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/mailserver"
)

func start(t *testing.T, cfg mailserver.Config) *mailserver.Server {
	t.Helper()
	s, err := mailserver.Start(cfg)
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

// TestAClientOfTheStandardLibraryIsServed holds the server against a client that was not written for it.
func TestAClientOfTheStandardLibraryIsServed(t *testing.T) {
	dir := t.TempDir()
	s := start(t, mailserver.Config{User: "desk", Password: "pw", Dir: dir})
	host, _, _ := strings.Cut(s.Addr(), ":")
	const text = "Subject: x\r\n\r\n.\r\n..\r\nend\r\n"
	to := []string{"ann@example.com", "bob@example.com"}
	if err := smtp.SendMail(s.Addr(), smtp.PlainAuth("", "desk", "pw", host), "desk@example.com", to, []byte(text)); err != nil {
		t.Fatal(err)
	}
	got := s.Messages()
	if len(got) != 1 || string(got[0].Data) != text || got[0].From != "desk@example.com" || !slices.Equal(got[0].To, to) || got[0].User != "desk" {
		t.Errorf("got %+v", got)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "1.eml")); err != nil || string(kept) != text {
		t.Errorf("kept %q, %v", kept, err)
	}
	if err := smtp.SendMail(s.Addr(), smtp.PlainAuth("", "desk", "no", host), "desk@example.com", to, []byte(text)); err == nil || !strings.Contains(err.Error(), "535") {
		t.Errorf("a wrong password: got %v", err)
	}
	if err := smtp.SendMail(s.Addr(), nil, "desk@example.com", to, []byte(text)); err == nil || !strings.Contains(err.Error(), "530") {
		t.Errorf("without logging in: got %v", err)
	}
}

func TestFaultsHappenAsOftenAsTheyAreSet(t *testing.T) {
	s := start(t, mailserver.Config{Faults: []mailserver.Fault{{At: "MAIL", Skip: 1, Times: 1, Reply: "451 later\r\n"}, {At: mailserver.Taken, Times: 1, Close: true}}})
	var got []string
	for range 4 {
		err := smtp.SendMail(s.Addr(), nil, "a@example.com", []string{"b@example.com"}, []byte("x\r\n"))
		switch {
		case err == nil:
			got = append(got, "taken")
		case strings.Contains(err.Error(), "451"):
			got = append(got, "later")
		default:
			got = append(got, "dropped")
		}
	}
	if want := []string{"dropped", "later", "taken", "taken"}; !slices.Equal(got, want) || len(s.Messages()) != 3 {
		t.Errorf("got %q and %d messages, want %q and 3", got, len(s.Messages()), want)
	}
}

func TestWhatIsNotAskedInOrderIsRefused(t *testing.T) {
	s := start(t, mailserver.Config{})
	c, err := smtp.Dial(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, step := range []struct {
		line string
		code int
	}{
		{"MAIL FROM:<a@example.com>", 503}, {"EHLO x", 250}, {"RCPT TO:<a@example.com>", 503}, {"DATA", 503}, {"MAIL FROM:a@example.com", 501}, {"MAIL FROM:<é@example.com>", 501},
		{"MAIL FROM:<a@example.com>", 250}, {"MAIL FROM:<a@example.com>", 503}, {"DATA", 503}, {"RCPT TO:<a>", 501}, {"RSET", 250}, {"RCPT TO:<a@example.com>", 503}, {"STARTTLS", 502}, {"AUTH PLAIN x", 504}, {"NOOP", 250}, {"VRFY a", 502}, {"QUIT", 221},
	} {
		if _, err := c.Text.Cmd("%s", step.line); err != nil {
			t.Fatal(err)
		}
		if code, _, err := c.Text.ReadResponse(step.code); code != step.code {
			t.Errorf("%s: got %d, %v, want %d", step.line, code, err, step.code)
		}
	}
}

func TestAJudgeDecidesAboutEachMessage(t *testing.T) {
	fates := map[string]mailserver.Fate{"refuse": mailserver.Refuse, "lose": mailserver.Lose}
	s := start(t, mailserver.Config{Judge: func(m mailserver.Message) mailserver.Fate {
		return fates[strings.TrimSpace(string(m.Data))]
	}})
	var got []string
	for _, word := range []string{"refuse", "lose", "take"} {
		err := smtp.SendMail(s.Addr(), nil, "a@example.com", []string{"b@example.com"}, []byte(word+"\r\n"))
		switch {
		case err == nil:
			got = append(got, "taken")
		case strings.Contains(err.Error(), "550"):
			got = append(got, "refused")
		default:
			got = append(got, "dropped")
		}
	}
	if want := []string{"refused", "dropped", "taken"}; !slices.Equal(got, want) || len(s.Messages()) != 2 {
		t.Errorf("got %q and %d messages, want %q and 2", got, len(s.Messages()), want)
	}
}
