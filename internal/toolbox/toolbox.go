// Package toolbox keeps the tools that an operator has added: for each name a record, NAME.yaml, and the bytes of the module,
// DIGEST.wasm, in one directory of the configuration. The grants of a record belong to those bytes and to no others.
//
// It judges no module and asks nobody. Processes may use one box at the same time.
package toolbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxModule is the longest module that is read, in bytes. What adds one has its own, lower cap.
const maxModule = 1 << 30

// Box is a directory of tools. It need not be there: then it is empty. The zero value is empty and takes nothing.
type Box struct{ dir string }

// In returns the box of a directory of the configuration; "" for none.
func In(config string) Box {
	if config == "" {
		return Box{}
	}
	return Box{dir: filepath.Join(config, "tools")}
}

// UnknownError says that no tool of a name was added.
type UnknownError struct {
	Name string
	// Suggestion is "" or the end of the sentence, with the name that is nearest.
	Suggestion string
}

// Error names it.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no tool %q was added%s", toolabi.CleanLine(e.Name, 80), e.Suggestion)
}

// ChangedError says that the bytes of a tool are not those that were added.
type ChangedError struct {
	Name   string
	Digest toolabi.Digest
	// Is is the digest of what is there; the zero value when there is nothing.
	Is   toolabi.Digest
	Path string
}

// Error names the digests.
func (e *ChangedError) Error() string {
	if e.Is == (toolabi.Digest{}) {
		return fmt.Sprintf("tool %s was added with digest %s, and its bytes are gone: %s", e.Name, e.Digest, e.Path)
	}
	return fmt.Sprintf("tool %s was added with digest %s, and what is in %s has digest %s", e.Name, e.Digest, e.Path, e.Is)
}

// FileError says which file of the box an error is about.
type FileError struct {
	Path string
	Err  error
}

// Error begins with the path.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error.
func (e *FileError) Unwrap() error { return e.Err }

// List returns the records, sorted by name. Errors: *FileError for one that cannot be read or has mistakes;
// *grantfile.UntrustedError.
func (b Box) List() ([]grantfile.Record, error) {
	if b.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(b.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var records []grantfile.Record
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".yaml")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		rec, err := b.read(name)
		if errors.Is(err, fs.ErrNotExist) { // removed just now
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, rec)
	}
	return records, nil
}

// Find returns the record of a name. Errors: *UnknownError, and those of List.
func (b Box) Find(name string) (grantfile.Record, error) {
	if b.dir != "" && toolabi.IsModuleName(name) {
		rec, err := b.read(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return rec, err
		}
	}
	unknown := &UnknownError{Name: name}
	if records, err := b.List(); err == nil {
		var names []string
		for _, r := range records {
			names = append(names, r.Name)
		}
		unknown.Suggestion = strictyaml.Suggest(name, names)
	}
	return grantfile.Record{}, unknown
}

// FindDigest returns the record of a module by its bytes. Errors are those of List.
func (b Box) FindDigest(d toolabi.Digest) (rec grantfile.Record, ok bool, err error) {
	records, err := b.List()
	if err != nil {
		return rec, false, err
	}
	i := slices.IndexFunc(records, func(r grantfile.Record) bool { return r.Digest == d })
	if i < 0 {
		return rec, false, nil
	}
	return records[i], true, nil
}

// read reads a record, which says that it is of that name.
func (b Box) read(name string) (grantfile.Record, error) {
	path := filepath.Join(b.dir, name+".yaml")
	text, err := grantfile.ReadTrusted(path)
	if err != nil {
		return grantfile.Record{}, err
	}
	rec, err := grantfile.ParseRecord(text)
	if err == nil && rec.Name != name {
		err = fmt.Errorf("it is the record of %s", rec.Name)
	}
	if err != nil {
		return grantfile.Record{}, &FileError{path, err}
	}
	return rec, nil
}

// Module returns the bytes of a tool, which have its digest. When the tool was changed since rec was read, those of the digest may
// be gone. Errors: *ChangedError.
func (b Box) Module(rec grantfile.Record) ([]byte, error) {
	changed := &ChangedError{Name: rec.Name, Digest: rec.Digest, Path: b.modulePath(rec.Digest)}
	info, err := os.Stat(changed.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, changed
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", changed.Path)
	}
	f, err := os.Open(changed.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wasm, err := io.ReadAll(io.LimitReader(f, maxModule))
	if err != nil {
		return nil, err
	}
	if changed.Is = toolabi.DigestOf(wasm); changed.Is != rec.Digest {
		return nil, changed
	}
	return wasm, nil
}

func (b Box) modulePath(d toolabi.Digest) string {
	return filepath.Join(b.dir, d.String()+".wasm")
}
