package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/toolabi"
)

var (
	// ErrMoved says that the tool is not any more what the caller has seen of it. Nothing was changed.
	ErrMoved = errors.New("another process changed it meanwhile")
	// ErrNoPlace says that there is no directory of the configuration.
	ErrNoPlace = errors.New("there is no directory of the configuration to keep tools in; say --config DIRECTORY")
)

// CheckName says why a tool of this name cannot be kept, or nil. The answer is the same on every system.
func CheckName(name string) error {
	switch {
	case !toolabi.IsModuleName(name):
		return fmt.Errorf("%q is no name of a module", toolabi.CleanLine(name, 80))
	case toolabi.IsDeviceName(name):
		return fmt.Errorf("the name %q is a device's on Windows, and no file there can have it", name)
	}
	return nil
}

// Add keeps a module under the name of rec, in place of the one that before is the record of, nil for none. The bytes are on the
// disk before the record is; killed at any point, the box has the one or the other. Errors: ErrMoved; ErrNoPlace;
// *grantfile.UntrustedError.
func (b Box) Add(rec grantfile.Record, wasm []byte, before *grantfile.Record) error {
	if err := CheckName(rec.Name); err != nil {
		return err
	}
	text, err := grantfile.FormatRecord(rec)
	if err != nil {
		return err
	}
	if _, err := grantfile.ParseRecord(text); err != nil { // it would be there, and could never be read
		return fmt.Errorf("the record of %s cannot be written: %w", rec.Name, err)
	}
	unlock, err := b.lock(true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.isStill(rec.Name, before); err != nil {
		return err
	}
	if err := b.write(rec.Digest.String()+".wasm", wasm); err != nil {
		return err
	}
	if err := b.write(rec.Name+".yaml", text); err != nil {
		return err
	}
	if before != nil && before.Digest != rec.Digest {
		return b.removeModule(before.Digest)
	}
	return nil
}

// Remove removes a tool. Errors are those of Add.
func (b Box) Remove(rec grantfile.Record) error {
	unlock, err := b.lock(false)
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.isStill(rec.Name, &rec); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(b.dir, rec.Name+".yaml")); err != nil {
		return err
	}
	if err := b.removeModule(rec.Digest); err != nil {
		return err
	}
	return syncDir(b.dir)
}

// isStill says whether the record of a name is the one that the caller has seen.
func (b Box) isStill(name string, seen *grantfile.Record) error {
	now, err := b.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if seen == nil {
			return nil
		}
		return ErrMoved
	case err != nil:
		return err
	case seen == nil || now.Digest != seen.Digest || !now.Grants.Equal(seen.Grants) || !now.Added.Equal(seen.Added):
		return ErrMoved
	}
	return nil
}

// removeModule removes the bytes of a module that no record names. Somebody may have removed them by hand.
func (b Box) removeModule(d toolabi.Digest) error {
	if _, named, err := b.FindDigest(d); err != nil || named {
		return err
	}
	if err := os.Remove(b.modulePath(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock makes the directory, if that is wanted, and keeps other processes from changing it. What a killed one left half written is
// removed.
func (b Box) lock(create bool) (unlock func(), err error) {
	if b.dir == "" {
		return nil, ErrNoPlace
	}
	if create {
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{filepath.Dir(b.dir), b.dir} {
		if err := grantfile.CheckDir(dir); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(filepath.Join(b.dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, err
	}
	b.sweep()
	return func() { f.Close() }, nil
}

const halfWritten = ".half-"

func (b Box) sweep() {
	left, _ := filepath.Glob(filepath.Join(b.dir, halfWritten+"*")) // a pattern that is in order
	for _, path := range left {
		os.Remove(path)
	}
}

// write replaces a file of the box as a whole, durably. It is the user's alone, whatever the umask says.
func (b Box) write(name string, content []byte) error {
	f, err := os.CreateTemp(b.dir, halfWritten+"*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // once it is renamed there is nothing of that name
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(b.dir, name))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncDir(b.dir)
}
