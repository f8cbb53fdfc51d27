package runtime_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// A reply that came and cannot be recorded is handed over as it came, whatever it was that had no space.
func TestAReplyThatCannotBeRecordedIsRescued(t *testing.T) {
	large := bytes.Repeat([]byte("r"), 2*journal.MaxInline)
	isReply := func(e journal.Entry) bool { return e.Kind == journal.Result && e.Step == "s1/1" }
	for _, tt := range []struct {
		name  string
		reply []byte
		err   *toolabi.Error
		entry func(journal.Entry) bool
		blobs bool
	}{
		{name: "short", reply: []byte("reply"), entry: isReply},
		{name: "long", reply: large, entry: isReply},
		{name: "long, and no space for its blob", reply: large, blobs: true},
		{name: "none", err: toolabi.NewError(toolabi.Unavailable, "connection refused; nothing was sent"), entry: isReply},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"x": one("a")})
			store := &full{Store: m.mem.Handle()}
			var rescued [][]byte
			p := m.process(store, func(c *runtime.Config) {
				c.Rescue = func(_ string, step journal.Step, reply []byte) {
					if step != "s1/1" {
						t.Errorf("the reply of %s is rescued", step)
					}
					rescued = append(rescued, reply)
				}
				sending(func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
					if tt.err != nil {
						store.entry, store.blobs = tt.entry, tt.blobs
						return nil, tt.err
					}
					err := c.BeforeSend()
					store.entry, store.blobs = tt.entry, tt.blobs
					return tt.reply, err
				})(c)
			})
			if _, err := m.drive(p, steps("x")); err == nil {
				t.Fatal("the full disk went by unseen")
			}
			want := 1
			if tt.err != nil {
				want = 0
			}
			if len(rescued) != want || want == 1 && !bytes.Equal(rescued[0], tt.reply) {
				t.Errorf("%d replies are rescued, want %d with the bytes that came", len(rescued), want)
			}
			store.Close()
		})
	}
}
