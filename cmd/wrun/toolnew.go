package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/scaffold"
)

func newToolNew(a *app) *cobra.Command {
	lang := string(scaffold.Go)
	c := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Make the directory of a new tool, which builds and passes its tests as it stands",
		Long: `Make a directory with a small tool that works, as a place to begin: sources, tests, cases, and all that
it is built from. NAME is the module's name, as manifests have it: lower-case letters, digits and inner
hyphens. DIR is where it is made, by default NAME; it is made too, or has to be empty.

In Go (the default) the directory has the SDK in its vendor directory, so that it builds and is tested
without a network. In C it has one header, wrun.h, and is built with clang and wasi-libc.`,
		Example: `  wrun tool new invoices
  wrun tool new invoices --lang c ./src/invoices`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := scaffold.CheckName(args[0]); err != nil {
				return usage(c, "%v", err)
			}
			files, err := scaffold.Files(scaffold.Lang(lang), args[0])
			if err != nil {
				return usage(c, "--lang: %v", err)
			}
			dir := append(args, args[0])[1]
			if dir == "" {
				return usage(c, "DIR has no name")
			}
			if err := scaffold.Write(dir, files); err != nil {
				return pathError(err)
			}
			return a.madeTool(args[0], dir, scaffold.Lang(lang), len(files))
		},
	}
	c.Flags().StringVar(&lang, "lang", lang, "the language: go or c")
	return c
}

// pathError says of an error of the file system that a file cannot be used.
func pathError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fileError(err)
	}
	return err
}

// madeTool says what was made, and what to do with it.
func (a *app) madeTool(name, dir string, lang scaffold.Lang, files int) error {
	next := []string{a.cmd("tool build " + quoted(dir)), a.cmd("test " + quoted(dir)), a.cmd("call ./" + name + ".wasm take " + quoted(`{"series":"invoice"}`) + " --allow-kv " + name)}
	if abs, err := filepath.Abs(dir); err == nil && filepath.Base(abs) != name {
		next[0] += " -o " + name + ".wasm"
	}
	if lang == scaffold.Go {
		test := "go test ."
		if dir != "." {
			test = "(cd " + quoted(dir) + " && " + test + ")"
		}
		next = append([]string{test}, next...)
	}
	if a.json {
		return a.line(map[string]any{"name": name, "dir": dir, "lang": string(lang), "files": files, "next": next})
	}
	if err := a.printf("%s  %d files of a tool in %s\n", dir, files, map[scaffold.Lang]string{scaffold.Go: "Go", scaffold.C: "C"}[lang]); err != nil {
		return err
	}
	for i, line := range next {
		label := "next:"
		if i > 0 {
			label = "     "
		}
		a.say("%s %s", label, line)
	}
	return nil
}
