package toolabi

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Command says how a program of WASI preview 1 is run as a tool: its _start is entered once for each call, with the tool's
// input on its standard input, and what it writes to its standard output is the reply. Such a module has exactly one tool,
// imports nothing but WASI and asks for no capabilities; directories are all that it can be given.
type Command struct {
	// Args are the program's arguments behind its name, which is the manifest's. At most 64, of 4,096 bytes each.
	Args []string `cbor:"1,keyasint,omitempty" json:"args,omitempty"`
	// Dirs are the directories that the program wants, at most 16, with different names and paths.
	Dirs []Dir `cbor:"2,keyasint,omitempty" json:"dirs,omitempty"`
	// Text says that the standard output is text: the tool's output is then the JSON string of it. Otherwise the output has to
	// be JSON itself.
	Text bool `cbor:"3,keyasint,omitempty" json:"text,omitempty"`
}

// Dir is one directory that a program wants, and why. The operator says which one of the host it is.
type Dir struct {
	// Name is what the operator grants it by: lower-case letters, digits and inner hyphens, at most 64.
	Name string `cbor:"1,keyasint" json:"name"`
	// Path is where the program finds it: absolute, clean, of at most 256 bytes.
	Path string `cbor:"2,keyasint" json:"path"`
	// Write says that the program wants to change it.
	Write bool `cbor:"3,keyasint,omitempty" json:"write,omitempty"`
	// Reason is the author's, for the person who grants it.
	Reason string `cbor:"4,keyasint" json:"reason"`
}

// Mount is a directory of the host that a call may use.
type Mount struct {
	// Name is that of the manifest's Dir.
	Name string
	// Path is the directory on the host: absolute.
	Path string
	// Write says that it may be changed; otherwise every change is refused.
	Write bool
}

// The bounds of a Command.
const (
	maxArgs    = 64
	maxArg     = 4096
	maxDirs    = 16
	maxDirPath = 256
)

func (m *Manifest) validateCommand() (errs []error) {
	if m.Command == nil {
		return nil
	}
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("command: "+format, a...)) }
	if len(m.Tools) != 1 {
		bad("%d tools: a program is exactly one", len(m.Tools))
	}
	if len(m.Capabilities) > 0 {
		bad("a program has no host functions to ask for")
	}
	if len(m.Command.Args) > maxArgs {
		bad("%d arguments, at most %d", len(m.Command.Args), maxArgs)
	}
	for i, a := range m.Command.Args {
		if len(a) > maxArg || strings.ContainsRune(a, 0) {
			bad("argument %d: want at most %d bytes and no NUL", i+1, maxArg)
		}
	}
	if len(m.Command.Dirs) > maxDirs {
		bad("%d directories, at most %d", len(m.Command.Dirs), maxDirs)
	}
	names, paths := map[string]bool{}, map[string]bool{}
	for _, d := range m.Command.Dirs {
		if err := d.validate(); err != nil {
			errs = append(errs, err)
		}
		if names[d.Name] || paths[d.Path] {
			bad("directory %q is there twice, by its name or its path", CutText(d.Name, 80))
		}
		names[d.Name], paths[d.Path] = true, true
	}
	for _, t := range m.Tools {
		errs = append(errs, m.Command.validatePromise(t)...)
	}
	return errs
}

// validatePromise says which promises a program cannot keep. What it writes into a directory does not pass through the host,
// so nobody can hold it to a promise that it does not write, or to a key.
func (c *Command) validatePromise(t Tool) (errs []error) {
	switch declared := t.Declared(); declared {
	case Keyed:
		errs = append(errs, fmt.Errorf("command: tool %q declares keyed, and a program is given no idempotency key: declare idempotent or non_idempotent", CutText(t.Name, 80)))
	case Pure, ReadOnly:
		for _, d := range c.Dirs {
			if d.Write {
				errs = append(errs, fmt.Errorf("command: tool %q declares %s and wants to write to directory %q: declare idempotent if the same call may write twice, or non_idempotent", CutText(t.Name, 80), declared, CutText(d.Name, 80)))
			}
		}
	}
	return errs
}

func (d Dir) validate() error {
	var errs []error
	bad := func(format string, a ...any) {
		errs = append(errs, fmt.Errorf("command: directory %q: "+format, append([]any{CutText(d.Name, 80)}, a...)...))
	}
	if !IsDirName(d.Name) {
		bad("want a name of lower-case letters, digits and inner hyphens, at most 64")
	}
	if !path.IsAbs(d.Path) || path.Clean(d.Path) != d.Path || len(d.Path) > maxDirPath || strings.ContainsRune(d.Path, 0) {
		bad("path %q: want an absolute one without . and .., at most %d bytes", CutText(d.Path, 80), maxDirPath)
	}
	if strings.TrimSpace(d.Reason) == "" {
		bad("it gives no reason")
	}
	return errors.Join(errs...)
}

// Opaque says that a call can change something without asking the host: it is a program that has a directory to write to.
func (m *Manifest) Opaque(mounts []Mount) bool {
	if m.Command == nil {
		return false
	}
	for _, mount := range mounts {
		if mount.Write {
			return true
		}
	}
	return false
}
