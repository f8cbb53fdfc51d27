package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// needles are the ways in which a value could stand somewhere, found by another way than the vault finds them: by its core, which
// consists of letters and digits and is left alone by everything that escapes text.
type needles map[string][]byte

// needlesOf makes the needles of a core.
func needlesOf(core string) needles {
	n := needles{
		"raw": []byte(core), "hex": []byte(hex.EncodeToString([]byte(core))), "HEX": bytes.ToUpper([]byte(hex.EncodeToString([]byte(core)))),
	}
	for behind := range 3 {
		b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", behind) + core))
		n[fmt.Sprintf("base64 behind %d", behind)] = []byte(b[4 : len(b)-4]) // without what depends on what is around it
	}
	for form, format := range map[string]string{"percent": "%%%02x", "PERCENT": "%%%02X", "JSON": `\u%04x`, "HTML": "&#%d;"} {
		var b bytes.Buffer
		for _, c := range []byte(core) {
			fmt.Fprintf(&b, format, c)
		}
		n[form] = b.Bytes()
	}
	return n
}

// in says in which form the value is in b, "" for none.
func (n needles) in(b []byte) string {
	for form, needle := range n {
		if bytes.Contains(b, needle) {
			return form
		}
	}
	return ""
}

// below returns the files below a directory that the value is in, and in which form. Blobs never change, so those that are in clean
// are not looked at again; nil looks at all.
func (n needles) below(t *testing.T, dir string, clean map[string]bool) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || clean[path] {
			return err
		}
		b, err := os.ReadFile(path)
		if form := n.in(b); form != "" {
			found = append(found, path+" ("+form+")")
		} else if clean != nil && strings.Contains(path, ".blobs") {
			clean[path] = true
		}
		if form := n.in([]byte(path)); form != "" {
			found = append(found, "the path "+path+" ("+form+")")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNeedlesAreFound(t *testing.T) {
	n := needlesOf(canaryCore)
	for form, text := range map[string]string{
		"raw": "x" + canaryCore + "y", "base64": base64.URLEncoding.EncodeToString([]byte("user:" + canaryValue + "z")), "hex": fmt.Sprintf("%X", canaryValue),
	} {
		if n.in([]byte(text)) == "" {
			t.Errorf("%s: not found in %s", form, text)
		}
	}
	if form := n.in([]byte(canaryCore[1:])); form != "" {
		t.Errorf("%s is found in what it is not", form)
	}
}
