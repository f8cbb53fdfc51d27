package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal/bundle"
)

func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	good, old := write(t, small), write(t)
	whole := func(w io.Writer) error { _, err := w.Write(good); return err }
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		prepare func(path string) error
		force   bool
		write   func(io.Writer) error
		want    error // nil: it is there afterwards
	}{
		"new":                  {nil, false, whole, nil},
		"cut off":              {nil, false, func(w io.Writer) error { _, err := w.Write(good[:len(good)-1]); return err }, bundle.ErrDamaged},
		"changed on the way":   {nil, false, func(w io.Writer) error { _, err := w.Write(append([]byte("x"), good...)); return err }, bundle.ErrForeign},
		"a full disk":          {nil, false, func(io.Writer) error { return full }, full},
		"there already":        {func(p string) error { return os.WriteFile(p, old, 0o600) }, false, whole, fs.ErrExist},
		"replaced":             {func(p string) error { return os.WriteFile(p, old, 0o600) }, true, whole, nil},
		"replaced by nothing":  {func(p string) error { return os.WriteFile(p, old, 0o600) }, true, func(io.Writer) error { return full }, full},
		"no bundle":            {func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) }, false, whole, fs.ErrInvalid},
		"no bundle, by force":  {func(p string) error { return os.WriteFile(p, []byte("mine"), 0o600) }, true, whole, fs.ErrInvalid},
		"empty, by force":      {func(p string) error { return os.WriteFile(p, nil, 0o600) }, true, whole, fs.ErrInvalid},
		"a directory":          {func(p string) error { return os.Mkdir(p, 0o700) }, true, whole, fs.ErrInvalid},
		"a link":               {func(p string) error { return os.Symlink(filepath.Join(filepath.Dir(p), "other"), p) }, false, whole, fs.ErrInvalid},
		"a link, by force":     {func(p string) error { return os.Symlink(filepath.Join(filepath.Dir(p), "other"), p) }, true, whole, fs.ErrInvalid},
		"comes while we write": {nil, false, nil, fs.ErrExist},
		"comes, by force":      {nil, true, nil, fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "b.wrun")
			before := 0
			if c.prepare != nil {
				if err := c.prepare(path); err != nil {
					t.Skip("SKIPPED: ", err)
				}
				before = 1
			}
			if c.write == nil {
				c.write = func(w io.Writer) error {
					before = 1
					return errors.Join(whole(w), os.WriteFile(path, []byte("mine"), 0o600))
				}
			}
			err := bundle.Write(t.Context(), path, c.force, c.write)
			files, _ := os.ReadDir(dir)
			if c.want == nil {
				b, rerr := os.ReadFile(path)
				if err != nil || rerr != nil || !bytes.Equal(b, good) || len(files) != 1 {
					t.Errorf("%v, %v, %d bytes, %v", err, rerr, len(b), files)
				}
				if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
					t.Errorf("%v, %v", info.Mode(), err)
				}
				return
			}
			if err == nil || c.want != fs.ErrInvalid && !errors.Is(err, c.want) || c.want == fs.ErrInvalid && errors.Is(err, fs.ErrExist) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if len(files) != before {
				t.Errorf("it leaves %v", files)
			}
			if b, err := os.ReadFile(path); err == nil && string(b) != "mine" && len(b) > 0 && !bytes.Equal(b, old) {
				t.Errorf("what was there has %d other bytes", len(b))
			}
		})
	}
}

func TestOnlyAFileThatBeginsLikeABundleIsOne(t *testing.T) {
	dir := t.TempDir()
	good, text := filepath.Join(dir, "good"), filepath.Join(dir, "text")
	if err := errors.Join(os.WriteFile(good, write(t), 0o600), os.WriteFile(text, []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{good: true, text: false, dir: false, filepath.Join(dir, "none"): false} {
		if got := bundle.Is(path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
