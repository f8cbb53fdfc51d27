package sandbox

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/toolabi"
)

// memoryOnly is a module that has nothing but a memory.
type memoryOnly struct {
	api.Module
	b []byte
}

func (m *memoryOnly) Memory() api.Memory { return bytesOnly{b: m.b} }

type bytesOnly struct {
	api.Memory
	b []byte
}

func (m bytesOnly) Size() uint32 { return uint32(len(m.b)) }
func (m bytesOnly) Read(at, n uint32) ([]byte, bool) {
	if uint64(at)+uint64(n) > uint64(len(m.b)) {
		return nil, false
	}
	return m.b[at : at+n : at+n], true
}

// FuzzPaths calls functions on paths that the fuzzer makes, in a directory with links that lead out. Whatever they answer,
// what is outside stays as it is and is not read.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"a", "../canary", "link", "dir/canary", "sub/../..", "up/canary", "/", "", "a/b/../../..", "link/", "\x00", "\xff", "dir/..//canary/."} {
		for op := range byte(9) {
			f.Add([]byte{op, op + 1, 1}, s, "new")
			f.Add([]byte{op, 8, 0, 0, 1, 1}, "new", s)
		}
	}
	f.Fuzz(func(t *testing.T, ops []byte, one, two string) {
		outside := t.TempDir()
		work := filepath.Join(outside, "work")
		lay(t, outside, work)
		c := &call{program: new(program), outputMax: 1 << 20}
		if err := c.program.files.mount([]toolabi.Dir{{Name: "work", Path: "/", Write: true}}, []toolabi.Mount{{Name: "work", Path: work, Write: true}}); err != nil {
			t.Fatal(err)
		}
		defer c.program.close()
		for _, op := range ops[:min(len(ops), 12)] {
			step(t, c, op, one, two)
			one, two = two, one
		}
		for _, file := range []string{"canary", "secret/canary"} {
			if b, err := os.ReadFile(filepath.Join(outside, file)); err != nil || string(b) != "the canary" {
				t.Fatalf("%s is %q, %v", file, b, err)
			}
		}
		entries, err := os.ReadDir(outside)
		if err != nil || len(entries) != 3 {
			t.Fatalf("outside there are %v, %v", entries, err)
		}
	})
}

func lay(t *testing.T, outside, work string) {
	t.Helper()
	var errs []error
	for _, dir := range []string{"secret", "work/sub"} {
		errs = append(errs, os.MkdirAll(filepath.Join(outside, dir), 0o700))
	}
	for _, file := range []string{"canary", "secret/canary"} {
		errs = append(errs, os.WriteFile(filepath.Join(outside, file), []byte("the canary"), 0o600))
	}
	for name, target := range map[string]string{"link": "../canary", "dir": "../secret", "up": "..", "abs": outside, "loop": "loop"} {
		errs = append(errs, os.Symlink(target, filepath.Join(work, name)))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// step makes one call, and reads what it opened.
func step(t *testing.T, c *call, op byte, one, two string) {
	const first, second, result, buffer = 0, 8192, 16384, 20480
	mod := &memoryOnly{b: make([]byte, 32768)}
	n, m := uint64(copy(mod.b[first:second], one)), uint64(copy(mod.b[second:result], two))
	ctx := context.Background()
	p, follow := c.program, uint64(op>>4&1)
	var errno uint32
	switch op % 9 {
	case 0:
		errno = p.pathOpen(ctx, mod, []uint64{3, follow, first, n, uint64(op >> 5), rightRead | rightWrite, 0, 0, result})
		if errno == errnoSuccess {
			fd := uint64(binary.LittleEndian.Uint32(mod.b[result:]))
			binary.LittleEndian.PutUint32(mod.b[result+8:], buffer)
			binary.LittleEndian.PutUint32(mod.b[result+12:], 64)
			p.fdRead(ctx, mod, []uint64{fd, result + 8, 1, result})
			c.fdWrite(ctx, mod, []uint64{fd, result + 8, 1, result})
		}
	case 1:
		errno = p.pathFilestatGet(ctx, mod, []uint64{3, follow, first, n, buffer})
	case 2:
		errno = c.pathFilestatSetTimes(ctx, mod, []uint64{3, follow, first, n, 1, 1, setAccessed | setModified})
	case 3:
		errno = p.pathCreateDirectory(ctx, mod, []uint64{3, first, n})
	case 4:
		errno = p.pathRemoveDirectory(ctx, mod, []uint64{3, first, n})
	case 5:
		errno = p.pathUnlinkFile(ctx, mod, []uint64{3, first, n})
	case 6:
		errno = p.pathRename(ctx, mod, []uint64{3, first, n, 3, second, m})
	case 7:
		errno = p.pathSymlink(ctx, mod, []uint64{first, n, 3, second, m})
	case 8:
		errno = p.pathLink(ctx, mod, []uint64{3, follow, first, n, 3, second, m})
	}
	if errno == errnoSuccess && op%9 >= 7 {
		t.Fatalf("%q, %q: a link was made", one, two)
	}
	if strings.Contains(string(mod.b[buffer:]), "canary") {
		t.Fatalf("%q was read", mod.b[buffer:buffer+16])
	}
}
