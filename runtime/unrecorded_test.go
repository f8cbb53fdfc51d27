package runtime_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// httpReplies are replies of http_send whose bytes are hard to keep, and of which some have no other form that does.
func httpReplies(t *testing.T) map[string][]byte {
	t.Helper()
	encode := func(r toolabi.HTTPReply) []byte {
		b, err := toolabi.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	header := func(words ...string) (hs []toolabi.Header) {
		for i := 0; i < len(words); i += 2 {
			hs = append(hs, toolabi.Header{Name: words[i], Value: words[i+1]})
		}
		return hs
	}
	return map[string][]byte{
		"an object":              encode(toolabi.HTTPReply{Status: 201, Body: []byte(`{"id":9007199254740993,"x":"<&>"}`)}),
		"an object with spaces":  encode(toolabi.HTTPReply{Status: 201, Body: []byte("{ \"id\" : 1 }\n")}),
		"text":                   encode(toolabi.HTTPReply{Status: 200, Body: []byte("caf\u00e9 \u2028 \x01\"")}),
		"no text":                encode(toolabi.HTTPReply{Status: 200, Body: []byte{0, 0xff, 0xfe, 'x'}}),
		"a string":               encode(toolabi.HTTPReply{Status: 200, Body: []byte(`"quoted"`)}),
		"none":                   encode(toolabi.HTTPReply{Status: 204}),
		"headers out of order":   encode(toolabi.HTTPReply{Status: 200, Headers: header("Zeta", "1", "Alpha", "2", "Zeta", "3"), Body: []byte("x")}),
		"what looks like a file": encode(toolabi.HTTPReply{Status: 200, Body: []byte(`{"wrun_reply_base64":"AAAA"}`)}),
		"long":                   encode(toolabi.HTTPReply{Status: 200, Body: bytes.Repeat([]byte{0x01}, 3<<20)}),
		"no reply of http":       []byte("anything\x00 at all"),
	}
}

// A reply that could not be recorded is in a file that resolve takes byte for byte, without anybody having asked for it.
func TestAReplyThatCannotBeRecordedIsInAFileByDefault(t *testing.T) {
	for name, reply := range httpReplies(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			u, p := unrecorded(t, reply, dir)
			info, err := os.Stat(u.Path)
			if err != nil || filepath.Dir(u.Path) != dir || info.Mode().Perm() != 0o600 {
				t.Fatalf("it is in %s, %v, %v, want a file of mode 0600 in %s", u.Path, info, err, dir)
			}
			said, err := os.ReadFile(u.Path)
			if err != nil || !bytes.Equal(said, u.Said) {
				t.Fatalf("the file has %d bytes, %v, the error %d", len(said), err, len(u.Said))
			}
			again, err := p.ParseReply(toolabi.FuncHTTPSend, said)
			if err != nil || !bytes.Equal(again, reply) {
				t.Errorf("what is read back has %d bytes, %v, want the %d that came", len(again), err, len(reply))
			}
		})
	}
}

// Where no directory takes it, it is in the error.
func TestAReplyThatCanBeSavedNowhereIsInTheError(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", none)
	reply := httpReplies(t)["headers out of order"]
	u, p := unrecorded(t, reply, none)
	if again, err := p.ParseReply(toolabi.FuncHTTPSend, u.Said); u.Path != "" || u.Err == nil || err != nil || !bytes.Equal(again, reply) {
		t.Errorf("path %q, %v; read back %q, %v", u.Path, u.Err, again, err)
	}
}

// unrecorded makes a journal refuse the result of an effect, and returns what the error says of the reply.
func unrecorded(t *testing.T, reply []byte, dir string) (runtime.Unrecorded, *process) {
	t.Helper()
	m := newMachine(t, map[string]tool{"x": one("a")})
	store := &full{Store: m.mem.Handle()}
	t.Cleanup(func() { store.Close() })
	p := m.process(store, func(c *runtime.Config) {
		c.RescueDir = dir
		for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
			if f.Name == toolabi.FuncHTTPSend {
				c.Funcs[0] = f
			}
		}
		c.Funcs[0].Check = nil
		sending(func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			err := c.BeforeSend()
			store.entry = func(e journal.Entry) bool { return e.Kind == journal.Result && e.Step == "s1/1" }
			return reply, err
		})(c)
	})
	_, err := m.drive(p, steps("x"))
	var lost *runtime.UnrecordedError
	if !errors.As(err, &lost) || len(lost.Replies) != 1 || lost.Replies[0].Step != "s1/1" || !errors.Is(err, journal.ErrNoSpace) {
		t.Fatalf("the run ends with %v, want one that holds the reply of s1/1, and that there was no space", err)
	}
	return lost.Replies[0], p
}

func FuzzAReplyThatIsSaved(f *testing.F) {
	f.Add([]byte(`{"wrun_reply_base64":"AAAA"}`))
	f.Add([]byte(`{"wrun_reply_base64":"AAAA"} {}`))
	f.Add([]byte(`{"wrun_reply_base64":"AA`))
	f.Fuzz(func(t *testing.T, said []byte) {
		e, err := runtime.New(runtime.Config{Journal: journaltest.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := e.ParseReply("f", said)
		if err != nil {
			return
		}
		form := fmt.Sprintf(`{"wrun_reply_base64":%q}`, base64.StdEncoding.EncodeToString(reply))
		if !bytes.Equal(reply, said) && string(bytes.TrimSpace(said)) != form {
			t.Errorf("%q is read as %q", said, reply)
		}
	})
}
