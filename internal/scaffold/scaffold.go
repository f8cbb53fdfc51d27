package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// Lang is a language that tools are written in.
type Lang string

// The languages.
const (
	Go Lang = "go"
	C  Lang = "c"
)

// Langs lists the languages in the order in which people are shown them.
var Langs = []Lang{Go, C}

// File is one file of a new tool.
type File struct {
	// Path is relative, with forward slashes.
	Path    string
	Content []byte
}

//go:embed templates
var templates embed.FS

// placeholder stands in the templates where the tool's name belongs.
const placeholder = "NAME"

// CheckName says why a new tool cannot have the name, or nil. It is the rule of manifests, and that of adding: a tool that nobody
// could add would be made in vain.
func CheckName(name string) error {
	switch {
	case !toolabi.IsModuleName(name):
		return fmt.Errorf("%q is no name of a module: want lower-case letters, digits and inner hyphens, at most 64", toolabi.CleanLine(name, 80))
	case toolabi.IsDeviceName(name):
		return fmt.Errorf("the name %q is a device's on Windows, and no file there can have it", name)
	}
	return nil
}

// Files returns the files of a new tool in the order of their paths.
func Files(lang Lang, name string) ([]File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if !slices.Contains(Langs, lang) {
		return nil, fmt.Errorf("there is no template for tools in %q; there are %q", toolabi.CleanLine(string(lang), 40), Langs)
	}
	files, err := rendered(lang, name)
	if err != nil {
		return nil, err
	}
	if lang == Go {
		vendored, err := unpack()
		if err != nil {
			return nil, err
		}
		for i, f := range vendored {
			if f.Path == "go.mod" {
				vendored[i].Content = bytes.Replace(f.Content, []byte("module "+placeholder), []byte("module example.com/tool-"+name), 1)
			}
		}
		files = append(files, vendored...)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// rendered returns the templates of a language with the name in them.
func rendered(lang Lang, name string) (files []File, err error) {
	top := path.Join("templates", string(lang))
	err = fs.WalkDir(templates, top, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := templates.ReadFile(file)
		if err != nil {
			return err
		}
		as := strings.TrimPrefix(strings.TrimSuffix(file, ".tmpl"), top+"/")
		if as == "gitignore" {
			as = ".gitignore"
		}
		if strings.HasSuffix(file, ".tmpl") {
			text = bytes.ReplaceAll(text, []byte(placeholder), []byte(name))
		}
		files = append(files, File{as, text})
		return nil
	})
	return files, err
}
