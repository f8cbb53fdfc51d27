package toolpack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/toolabi"
)

// The names of the files, in their order.
const (
	manifestName   = "manifest.json"
	readmeName     = "README.md"
	licenseName    = "LICENSE"
	thirdPartyName = "THIRD_PARTY_LICENSES"
	moduleName     = "module.wasm"
)

// FormatError says that bytes are no package.
type FormatError struct{ Why string }

// Error says why.
func (e *FormatError) Error() string { return "not a package: " + e.Why }

// file is one file of a package.
type file struct {
	name     string
	content  *[]byte
	most     int
	optional bool
}

func (p *Package) files() []file {
	return []file{
		{manifestName, &p.Manifest, MaxText, false},
		{readmeName, &p.Readme, MaxText, true},
		{licenseName, &p.License, MaxText, true},
		{thirdPartyName, &p.ThirdParty, MaxText, true},
		{moduleName, &p.Module, MaxPackage, false},
	}
}

// Write returns the bytes of the package, the same for the same package. What Read would refuse is an error.
func (p *Package) Write() ([]byte, error) {
	for _, f := range p.files() {
		if n := len(*f.content); n > f.most {
			return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed in a package", f.name, n, f.most)
		}
		if len(*f.content) == 0 && !f.optional {
			return nil, fmt.Errorf("a package needs a %s", f.name)
		}
	}
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range p.files() {
		if len(*f.content) == 0 {
			continue
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o644, Size: int64(len(*f.content)), Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := t.Write(*f.content); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	if b.Len() > MaxPackage {
		return nil, fmt.Errorf("the package has %d bytes, at most %d are allowed", b.Len(), MaxPackage)
	}
	return b.Bytes(), nil
}

// Is says whether bytes begin like a package: like a tar whose first file is manifest.json. No module does.
func Is(b []byte) bool {
	const magicAt = 257
	return len(b) > magicAt+5 && bytes.HasPrefix(b, []byte(manifestName+"\x00")) && string(b[magicAt:magicAt+5]) == "ustar"
}

// Read reads a package. Its module is not judged, and nothing that it says has been held against the module: see Agrees. The error
// is a *FormatError.
func Read(b []byte) (*Package, error) {
	if len(b) > MaxPackage {
		return nil, &FormatError{fmt.Sprintf("it has %d bytes, at most %d are allowed", len(b), MaxPackage)}
	}
	if !Is(b) {
		return nil, &FormatError{"it is no tar that begins with " + manifestName}
	}
	p := new(Package)
	if err := p.read(tar.NewReader(bytes.NewReader(b))); err != nil {
		return nil, err
	}
	again, err := p.Write()
	if err != nil {
		return nil, &FormatError{err.Error()}
	}
	if !bytes.Equal(b, again) {
		return nil, &FormatError{"it is not laid out as wrun tool package does it: with other times, owners, modes or headers, or with bytes that belong to nothing"}
	}
	return p, nil
}

// read takes the files one after the other. A file that is longer than it may be is not read to its end.
func (p *Package) read(r *tar.Reader) error {
	rest := p.files()
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &FormatError{toolabi.CleanLine(err.Error(), 200)}
		}
		at := 0
		for at < len(rest) && rest[at].name != h.Name {
			at++
		}
		if at == len(rest) {
			return &FormatError{fmt.Sprintf("it has a file %q where none of that name belongs", toolabi.CleanLine(h.Name, 80))}
		}
		f := rest[at]
		rest = rest[at+1:]
		if h.Typeflag != tar.TypeReg {
			return &FormatError{fmt.Sprintf("its %s is no regular file", f.name)}
		}
		if h.Size > int64(f.most) {
			return &FormatError{fmt.Sprintf("its %s has %d bytes, at most %d are allowed", f.name, h.Size, f.most)}
		}
		content, err := io.ReadAll(io.LimitReader(r, int64(f.most)))
		if err != nil {
			return &FormatError{fmt.Sprintf("its %s: %s", f.name, toolabi.CleanLine(err.Error(), 200))}
		}
		*f.content = content
	}
}
