package toolpack_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/toolpack"
	"github.com/wrun-dev/wrun/toolabi"
)

func manifest() *toolabi.Manifest {
	return &toolabi.Manifest{Name: "shop", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "buy", Input: toolabi.RawJSON(`{"a": "<&>\u2028", "n":1e400}`)}}}
}

var module = []byte("\x00asm\x01\x00\x00\x00 not looked at")

func whole(t testing.TB) *toolpack.Package {
	t.Helper()
	p, err := toolpack.New(module, manifest())
	if err != nil {
		t.Fatal(err)
	}
	p.Readme, p.License, p.ThirdParty = []byte("# shop\n"), []byte("do what you like\n"), []byte("== a\n")
	return p
}

func written(t testing.TB, p *toolpack.Package) []byte {
	t.Helper()
	b, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAPackageIsReadAsItWasWritten(t *testing.T) {
	p := whole(t)
	b := written(t, p)
	if again := written(t, whole(t)); !bytes.Equal(b, again) {
		t.Error("the same package is other bytes")
	}
	got, err := toolpack.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Module, module) || !bytes.Equal(got.Manifest, p.Manifest) || string(got.Readme) != "# shop\n" || string(got.License) != "do what you like\n" || string(got.ThirdParty) != "== a\n" {
		t.Errorf("it holds %q", got)
	}
	if err := got.Agrees(manifest()); err != nil {
		t.Error(err)
	}
	least, err := toolpack.New(module, manifest())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := toolpack.Read(written(t, least)); err != nil || got.Readme != nil || !bytes.Equal(got.Module, module) {
		t.Errorf("without texts: %q, %v", got, err)
	}
}

// What a standard program makes of a package are its files.
func TestAPackageIsATar(t *testing.T) {
	var names []string
	for r := tar.NewReader(bytes.NewReader(written(t, whole(t)))); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		names = append(names, h.Name)
		if !h.ModTime.IsZero() && h.ModTime.Unix() != 0 || h.Mode != 0o644 || h.Uid != 0 {
			t.Errorf("%s: %v", h.Name, h)
		}
	}
	if got := strings.Join(names, " "); got != "manifest.json README.md LICENSE THIRD_PARTY_LICENSES module.wasm" {
		t.Errorf("it has %s", got)
	}
}

func TestAPackageIsHeldAgainstItsModule(t *testing.T) {
	for what, change := range map[string]func(*toolpack.Package, *toolabi.Manifest){
		"another module":   func(p *toolpack.Package, _ *toolabi.Manifest) { p.Module = []byte("another") },
		"a milder promise": func(_ *toolpack.Package, m *toolabi.Manifest) { m.Tools[0].Approval = true },
		"another name":     func(_ *toolpack.Package, m *toolabi.Manifest) { m.Name = "other" },
		"another schema":   func(_ *toolpack.Package, m *toolabi.Manifest) { m.Tools[0].Input = toolabi.RawJSON(`{}`) },
		"a capability that is not said": func(_ *toolpack.Package, m *toolabi.Manifest) {
			m.Capabilities = []toolabi.Capability{{Name: "kv_get", Reason: "r"}}
		},
	} {
		p, m := whole(t), manifest()
		change(p, m)
		var wrong *toolpack.DisagreesError
		if err := p.Agrees(m); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := whole(t)
	p.Manifest = []byte(strings.Join(strings.Fields(string(p.Manifest)), " ")) // laid out otherwise
	if err := p.Agrees(manifest()); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		"", "{", "[]", "null", "{}", `{"wrun_package":1}`, `{"wrun_package":"1","digest":"","manifest":{}}`, `{"wrun_package":1,"wrun_package":1,"digest":"","manifest":{}}`,
		`{"wrun_package":1,"digest":"","manifest":{},"more":1}`, `{"wrun_package":1,"digest":"","manifest":{"naem":"x"}}`, string(p.Manifest) + "{}", `{"wrun_package":2,"new":1}`,
	} {
		p.Manifest = []byte(text)
		var wrong *toolpack.FormatError
		if err := p.Agrees(manifest()); !errors.As(err, &wrong) || strings.Contains(text, ":2") != strings.Contains(err.Error(), "newer wrun") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// entry is one file of a tar that nobody but the test writes.
type entry struct {
	tar.Header
	content string
}

func packed(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		if e.Mode == 0 {
			e.Mode = 0o644
		}
		e.Size = int64(len(e.content))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsNoPackageIsRefused(t *testing.T) {
	p := whole(t)
	good := written(t, p)
	named := func(name string) entry { return entry{Header: tar.Header{Name: name}, content: "x"} }
	m, w := entry{tar.Header{Name: "manifest.json"}, string(p.Manifest)}, entry{tar.Header{Name: "module.wasm"}, string(module)}
	for what, b := range map[string][]byte{
		"nothing":                     nil,
		"a module":                    module,
		"a path upwards":              packed(t, m, named("../module.wasm")),
		"an absolute path":            packed(t, m, named("/module.wasm")),
		"a path with a dot":           packed(t, m, named("./module.wasm")),
		"another file":                packed(t, m, named("evil.sh"), w),
		"a file behind":               packed(t, m, w, named("evil.sh")),
		"a file twice":                packed(t, m, m, w),
		"two modules":                 packed(t, m, w, w),
		"another order":               packed(t, m, w, named("README.md")),
		"no module":                   packed(t, m),
		"no manifest":                 packed(t, w),
		"an empty module":             packed(t, m, entry{Header: tar.Header{Name: "module.wasm"}}),
		"an empty text":               packed(t, m, entry{Header: tar.Header{Name: "README.md"}}, w),
		"a link":                      packed(t, m, entry{Header: tar.Header{Name: "module.wasm", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}),
		"a hard link":                 packed(t, m, entry{Header: tar.Header{Name: "module.wasm", Typeflag: tar.TypeLink, Linkname: "manifest.json"}}),
		"a directory":                 packed(t, m, entry{Header: tar.Header{Name: "README.md", Typeflag: tar.TypeDir}}, w),
		"a program":                   packed(t, m, entry{tar.Header{Name: "module.wasm", Mode: 0o755}, string(module)}),
		"an owner":                    packed(t, m, entry{tar.Header{Name: "module.wasm", Uid: 7, Uname: "eve"}, string(module)}),
		"extended headers":            packed(t, m, entry{tar.Header{Name: "module.wasm", PAXRecords: map[string]string{"X.y": "z"}}, string(module)}),
		"a byte behind":               append(bytes.Clone(good), 0),
		"zeros behind":                append(bytes.Clone(good), make([]byte, 512)...),
		"another package behind":      append(bytes.Clone(good), good...),
		"a manifest that is too long": packed(t, entry{tar.Header{Name: "manifest.json"}, strings.Repeat(" ", toolpack.MaxText+1)}, w),
		"a size beyond the end":       sized(good, "77777777777"),
		"a size below nothing":        sized(good, "-0000000001"),
		"a size in base 256":          sized(good, "\x80\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"),
	} {
		var wrong *toolpack.FormatError
		if got, err := toolpack.Read(b); !errors.As(err, &wrong) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	for n := range good {
		if n%97 != 0 && n%512 != 0 {
			continue
		}
		if got, err := toolpack.Read(good[:n]); err == nil {
			t.Errorf("cut off after %d of %d bytes: %v", n, len(good), got)
		}
		other := bytes.Clone(good)
		other[n] ^= 1
		if got, err := toolpack.Read(other); err == nil && bytes.Equal(got.Module, module) && bytes.Equal(got.Manifest, p.Manifest) && bytes.Equal(got.Readme, p.Readme) && bytes.Equal(got.License, p.License) && bytes.Equal(got.ThirdParty, p.ThirdParty) {
			t.Errorf("with byte %d changed it is the same package", n)
		}
	}
}

// sized says of the first file of a tar that it has another size, and makes its checksum right.
func sized(b []byte, size string) []byte {
	b = bytes.Clone(b)
	copy(b[124:136], size)
	copy(b[148:156], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:156], []byte{byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
	return b
}

// A sparse file says in a few bytes that it is long.
func TestASparseFileIsNoPackage(t *testing.T) {
	p := whole(t)
	b := packed(t, entry{tar.Header{Name: "manifest.json"}, string(p.Manifest)}, entry{tar.Header{Name: "module.wasm"}, strings.Repeat("x", 512)})
	at := bytes.Index(b, []byte("module.wasm\x00"))
	b[at+156] = 'S' // of GNU
	copy(b[at+257:], "ustar  \x00")
	copy(b[at+386:], "00000000000\x0000000001000\x00")
	copy(b[at+483:], "00400000000\x00")
	copy(b[at:], sized(b[at:], "00000001000"))
	var wrong *toolpack.FormatError
	if got, err := toolpack.Read(b); !errors.As(err, &wrong) {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, whole(f)))
	f.Add([]byte("manifest.json"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := toolpack.Read(b)
		if err != nil {
			var wrong *toolpack.FormatError
			if !errors.As(err, &wrong) {
				t.Errorf("%v", err)
			}
			return
		}
		if again := written(t, p); !bytes.Equal(b, again) {
			t.Error("what was read would be written otherwise")
		}
		_ = p.Agrees(manifest())
	})
}

func TestTextsOfADirectoryGoAlong(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md": "read me", "COPYING": "copy me", "vendor/b/LICENSE": "b's", "vendor/a/v2/LICENCE.txt": "a's", "vendor/a/license.go": "package a", "other/LICENSE": "no",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := new(toolpack.Package)
	if err := p.Texts(dir); err != nil {
		t.Fatal(err)
	}
	if string(p.Readme) != "read me" || string(p.License) != "copy me" || string(p.ThirdParty) != "== a/v2/LICENCE.txt\n\na's\n== b/LICENSE\n\nb's\n" {
		t.Errorf("%q, %q, %q", p.Readme, p.License, p.ThirdParty)
	}
	if err := p.Texts(t.TempDir()); err != nil || p.Readme != nil || p.License != nil || p.ThirdParty != nil {
		t.Errorf("of an empty directory: %q, %v", p, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), make([]byte, toolpack.MaxText+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Texts(dir); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("of a long text: %v", err)
	}
}
