package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/modref"
	"github.com/wrun-dev/wrun/internal/toolpack"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

func newToolPackage(a *app) *cobra.Command {
	var output, readme, license string
	c := &cobra.Command{
		Use:   "package [DIR|TOOL.wasm]",
		Short: "Put a module, its manifest and its texts into one file",
		Long: `Put a module into one file with its manifest as JSON, README.md, LICENSE, and the licences of what was
built into it. Of a directory, this one by default, the tool is built first, and the texts are those that lie in it; of a module
they are those that flags name. The same module and texts give the same bytes.

The file is a tar: "tar -tf FILE" lists what is in it. Verbs that take a module's file take a package
as well, and hold what it says of its module against the module.`,
		Example: `  wrun tool package ./invoices
  wrun tool package invoices.wasm --readme README.md --license LICENSE -o invoices.wrun.tar`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, m, err := a.packageOf(c, orHere(args), readme, license)
			if err != nil {
				return err
			}
			b, err := p.Write()
			if err != nil {
				return fileError(err)
			}
			if _, err := toolpack.Read(b); err != nil { // it would be there, and could never be read
				return fmt.Errorf("%s: %w", orHere(args), err)
			}
			if output == "" {
				output = m.Manifest.Name + "-" + strings.ReplaceAll(m.Manifest.Version, "+", "_") + modref.PackageSuffix
			}
			if err := writeFile(output, b); err != nil {
				return err
			}
			if a.json {
				line := moduleLine(m)
				line["file"], line["texts"] = output, orEmpty(p.Names())
				err = a.line(line)
			} else {
				err = a.printf("%s  %s %s, digest %s, with %s\n", output, m.Manifest.Name, m.Manifest.Version, m.Digest.Short(), strings.Join(p.Names(), ", "))
			}
			if len(p.License) == 0 {
				a.say("there is no LICENSE in it, so nobody knows what they may do with the tool")
			}
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the package to this `FILE` (default NAME-VERSION.wrun.tar)")
	c.Flags().StringVar(&readme, "readme", "", "the `FILE` that becomes README.md")
	c.Flags().StringVar(&license, "license", "", "the `FILE` that becomes LICENSE")
	return c
}

// packageOf makes the package of a directory or a module.
func (a *app) packageOf(c *cobra.Command, word, readme, license string) (*toolpack.Package, *sandbox.Module, error) {
	info, err := os.Stat(word)
	if err != nil {
		return nil, nil, fileError(err)
	}
	var wasm []byte
	if info.IsDir() {
		wasm, err = a.buildTool(c.Context(), word)
	} else {
		wasm, err = readModule(word)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := sandbox.Inspect(wasm)
	if err != nil {
		return nil, nil, named(err, word)
	}
	p, err := toolpack.New(wasm, m.Manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", word, err)
	}
	if info.IsDir() {
		if err := p.Texts(word); err != nil {
			return nil, nil, fileError(err)
		}
	}
	for _, t := range []struct {
		file string
		to   *[]byte
	}{{readme, &p.Readme}, {license, &p.License}} {
		if t.file == "" {
			continue
		}
		if *t.to, err = toolpack.Text(t.file); err != nil {
			return nil, nil, fileError(err)
		}
	}
	return p, m, nil
}

// readModule reads the file of a module, or the module out of a package, whose words about it are held against it.
func readModule(path string) ([]byte, error) {
	b, err := sandbox.ReadFile(path)
	if err != nil || !toolpack.Is(b) {
		return b, err
	}
	p, err := toolpack.Read(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := sandbox.InspectCached(p.Module, cachePath())
	if err != nil {
		return nil, named(err, path)
	}
	if err := p.Agrees(m.Manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p.Module, nil
}
