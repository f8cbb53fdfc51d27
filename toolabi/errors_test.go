package toolabi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestErrorIsItsCode(t *testing.T) {
	err := fmt.Errorf("send: %w", toolabi.NewError(toolabi.Denied, "not granted"))
	if !errors.Is(err, toolabi.Denied) {
		t.Errorf("%v is not denied", err)
	}
	if errors.Is(err, toolabi.NotFound) {
		t.Errorf("%v is not_found", err)
	}
}

func TestErrorSaysCodeDetailAndMessage(t *testing.T) {
	for want, e := range map[string]*toolabi.Error{
		"denied":                      {Code: toolabi.Denied},
		"denied: no grant":            {Code: toolabi.Denied, Message: "no grant"},
		"failed (declined): no money": {Code: toolabi.Failed, Detail: "declined", Message: "no money"},
		"code 900":                    {Code: 900},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCodesHaveDifferentNames(t *testing.T) {
	seen := map[string]toolabi.Code{}
	for c := toolabi.Denied; c <= toolabi.Expired; c++ {
		if other, ok := seen[c.String()]; ok || strings.HasPrefix(c.String(), "code ") {
			t.Errorf("code %d is named %q, as is %d", c, c, other)
		}
		seen[c.String()] = c
	}
}

func TestLimitsAreTheLimitCodes(t *testing.T) {
	for c := toolabi.Denied; c <= toolabi.Expired; c++ {
		if got, want := c.IsLimit(), strings.HasPrefix(c.String(), "limit_"); got != want {
			t.Errorf("%s is a limit: %v, want %v", c, got, want)
		}
	}
}

func TestNewErrorCanAlwaysBeCarried(t *testing.T) {
	for _, message := range []string{"", "plain", "bad \xff\xfe bytes", strings.Repeat("é", toolabi.MaxText)} {
		e := toolabi.NewError(toolabi.Internal, message)
		if len(e.Message) > toolabi.MaxText {
			t.Errorf("the message has %d bytes, want at most %d", len(e.Message), toolabi.MaxText)
		}
		var back toolabi.Error
		if err := toolabi.Decode(encode(t, e), &back); err != nil || back != *e {
			t.Errorf("%.20q came back as %+v: %v", message, back, err)
		}
	}
}

func TestCutTextCutsAtARune(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"aé", 2, "a"}, {"aé", 3, "aé"},
		{"\U0001F600x", 3, ""}, {"\U0001F600x", 4, "\U0001F600"}, {"\x80\x80\x80", 2, ""},
	} {
		if got := toolabi.CutText(c.s, c.max); got != c.want {
			t.Errorf("%q cut to %d is %q, want %q", c.s, c.max, got, c.want)
		}
	}
}

func FuzzCutText(f *testing.F) {
	f.Add("aé\U0001F600", 4)
	f.Add("\xff\x80", 1)
	f.Fuzz(func(t *testing.T, s string, size int) {
		if size < 0 {
			return
		}
		got := toolabi.CutText(s, size)
		if len(got) > size || !strings.HasPrefix(s, got) || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q cut to %d is %q", s, size, got)
		}
	})
}
