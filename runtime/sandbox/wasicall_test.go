package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/tetratelabs/wazero/api"
)

// oneMemory is a module of nothing but a memory, which it does not make anew each time.
type oneMemory struct {
	api.Module
	memory *bytesOnly
}

func (m *oneMemory) Memory() api.Memory { return m.memory }

// TestWhatGuestsUseOftenAllocatesNothing has the buffer of the standard error at its full size, which is as far as it grows.
func TestWhatGuestsUseOftenAllocatesNothing(t *testing.T) {
	mod := &oneMemory{memory: &bytesOnly{b: make([]byte, pageSize)}}
	binary.LittleEndian.PutUint32(mod.memory.b, 64)
	binary.LittleEndian.PutUint32(mod.memory.b[4:], 100)
	c := &call{}
	c.stdio.buf = make([]byte, 0, 3*maxStdio)
	ctx := c.under(context.Background())
	for _, tc := range []struct {
		name string
		args []uint64
	}{
		{"clock_time_get", []uint64{0, 0, 32}},
		{"random_get", []uint64{32, 16}},
		{"fd_write", []uint64{2, 0, 1, 32}},
		{"fd_fdstat_get", []uint64{2, 32}},
		{"args_sizes_get", []uint64{32, 36}},
	} {
		f, _ := wasiByName(tc.name)
		if n := testing.AllocsPerRun(2000, func() {
			if errno := f.tool(callFrom(ctx), ctx, mod, tc.args); errno != errnoSuccess {
				t.Fatalf("%s: errno %d", tc.name, errno)
			}
		}); n > 0 {
			t.Errorf("%s allocates %v times", tc.name, n)
		}
	}
}

func TestACopyOfWhatStartingLeftBehindSharesNothing(t *testing.T) {
	c := &call{seen: seen{clock: newClock()}}
	c.stdio.write([]byte("started\n"))
	c.streams.fdClose(nil, []uint64{1})
	kept := c.clone()
	c.clock.advance(5)
	c.stdio.write([]byte("called\n"))
	c.streams.fdClose(nil, []uint64{2})
	again := kept.clone()
	again.stdio.write([]byte("again\n"))
	if kept.clock != newClock() || string(kept.stdio.text()) != "started\n" || kept.streams.isOpen(1) || !kept.streams.isOpen(2) {
		t.Errorf("kept is %+v with %q", kept, kept.stdio.text())
	}
	if want := []byte("started\nagain\n"); !bytes.Equal(again.stdio.text(), want) {
		t.Errorf("a copy says %q, want %q", again.stdio.text(), want)
	}
}

// countdown is a context that ends once it was looked at so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestALongUseOfWASIEndsWithTheCall looks at how far a use comes whose call ends meanwhile.
func TestALongUseOfWASIEndsWithTheCall(t *testing.T) {
	mod := &oneMemory{memory: &bytesOnly{b: make([]byte, 4*randomPiece)}}
	for i, v := range []uint32{64, 3, 64, 3, 64, 3, 0, 0, 0, 0} {
		binary.LittleEndian.PutUint32(mod.memory.b[4*i:], v)
	}
	copy(mod.memory.b[64:], "one")
	for _, tc := range []struct {
		name    string
		args    []uint64
		looks   int
		said    string
		written int // up to where it wrote
	}{
		{"random_get", []uint64{randomPiece, 3 * randomPiece}, 2, "", 3 * randomPiece},
		{"fd_write", []uint64{2, 0, 3, 128}, 2, "oneone", 67},
		{"fd_read", []uint64{0, 24, 2, 128}, 1, "", 67},
	} {
		f, _ := wasiByName(tc.name)
		c := &call{}
		func() {
			defer func() {
				if r := recover(); r != errUnwind || c.stop != context.DeadlineExceeded {
					t.Errorf("%s: %v, stopped by %v", tc.name, r, c.stop)
				}
			}()
			f.tool(c, &countdown{context.Background(), tc.looks}, mod, tc.args)
		}()
		written := len(bytes.TrimRight(mod.memory.b, "\x00"))
		if string(c.stdio.text()) != tc.said || written > tc.written || written < tc.written-16 {
			t.Errorf("%s said %q and wrote up to %d, want %q and %d", tc.name, c.stdio.text(), written, tc.said, tc.written)
		}
		clear(mod.memory.b[128:])
	}
}
