package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// A compiler that has no room says so, and it is not said of the module.
func TestACompilerWithoutRoomSaysWhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "staging-1")
	if err := os.WriteFile(filepath.Dir(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := compileReport(t.Context(), dir, form{whole: []byte("\x00asm\x01\x00\x00\x00")})
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var refused *LoadError
	if _, err := parseReport(said); !errors.Is(err, ErrCache) || errors.As(err, &refused) || !strings.Contains(err.Error(), filepath.Dir(dir)) {
		t.Errorf("%s is read as %v", said, err)
	}
}

// FuzzReport reads what a compiler says and puts what it names into a cache that has nothing of the kind: whatever it says,
// nothing is taken, and what is said of it is one short line.
func FuzzReport(f *testing.F) {
	zeros := strings.Repeat("0", 64)
	for _, s := range []string{
		`{"file":"wazero-v1/` + zeros + `","key":"` + zeros + `"}`, `{"file":"wazero-v1/` + zeros + `","key":"../x"}`, `{"key":"` + zeros + `"}`,
		`{"file":"wazero-v1/` + zeros + `"}`, `{"file":"../../` + zeros + `"}`, `{"file":"/` + zeros + `"}`, `{"file":"a\u0000/` + zeros + `"}`,
		`{"interpreted":true}`, `{"unwritten":"no\nroom\u001b[31m"}`, `{"malformed":"not\na module\u001b[31m"}`, `{"malformed":"` + strings.Repeat("é", 3000) + `"}`,
		`{}`, `null`, `[]`, `{"file":1}`, `{"file":"x"}x`, "\xff\x00",
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	c, err := openCache(filepath.Join(dir, "cache"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.close(f.Context()) })
	f.Fuzz(func(t *testing.T, said []byte) {
		made, err := parseReport(said)
		if errors.Is(err, errNoCode) {
			return
		}
		if err == nil {
			if _, err = c.adopt(toolabi.DigestOf(said), filepath.Join(dir, "staging"), made); err == nil {
				t.Fatalf("%+v was taken", made)
			}
		}
		if text := toolabi.CleanLine(err.Error(), 4000); len(text) > 2000 || text != err.Error() {
			t.Errorf("the error is %q", err)
		}
	})
}
