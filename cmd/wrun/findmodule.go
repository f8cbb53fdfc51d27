package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/modref"
	"github.com/wrun-dev/wrun/internal/toolbox"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// foundModule is a module that was named on the command line or in a plan.
type foundModule struct {
	path string // what it is called in messages
	info *sandbox.Module
	// grants are those of its bytes, when these were added.
	grants hostfuncs.Grants
}

// isModuleFile says whether a word is the path of a module, and not the name of one that was added. It does not look which files
// there are: a file in the working directory must not stand in for a tool that was added. No tool is called "." or "..".
func isModuleFile(word string) bool {
	return word == "." || word == ".." || modref.IsFile(word)
}

// findModule finds a module by its path or by its name.
func (a *app) findModule(word string) (foundModule, error) {
	if isModuleFile(word) {
		return a.moduleFile(word)
	}
	found, err := a.addedModule(word)
	var unknown *toolbox.UnknownError
	if errors.As(err, &unknown) {
		if info, statErr := os.Stat(word); statErr == nil && info.Mode().IsRegular() {
			return found, &notAddedError{unknown, "./" + word}
		}
	}
	return found, err
}

// notAddedError says that no tool of this name was added, and that there is a file that may have been meant.
type notAddedError struct {
	*toolbox.UnknownError
	file string
}

// moduleFile reads a module from a file. Its bytes have the grants that they were added with, wherever they lie.
func (a *app) moduleFile(path string) (foundModule, error) {
	wasm, err := readModule(path)
	if err != nil {
		return foundModule{}, err
	}
	found := foundModule{path: path}
	if found.info, err = sandbox.InspectCached(wasm, cachePath()); err != nil {
		return foundModule{}, named(err, path)
	}
	box, err := a.toolbox()
	if err != nil {
		return foundModule{}, err
	}
	rec, ok, err := box.FindDigest(found.info.Digest)
	if ok {
		found.grants = rec.Grants
	}
	return found, err
}

// addedModule reads a module that was added. Errors: *toolbox.UnknownError, *toolbox.ChangedError.
func (a *app) addedModule(name string) (foundModule, error) {
	box, err := a.toolbox()
	if err != nil {
		return foundModule{}, err
	}
	rec, wasm, err := readAdded(box, name)
	if err != nil {
		return foundModule{}, err
	}
	found := foundModule{path: name, grants: rec.Grants}
	if found.info, err = sandbox.InspectCached(wasm, cachePath()); err != nil {
		return foundModule{}, named(err, name)
	}
	return found, nil
}

// readAdded returns the record and the bytes of a tool; where another process puts a version in its place meanwhile, of that.
func readAdded(box toolbox.Box, name string) (rec grantfile.Record, wasm []byte, err error) {
	for range 10 {
		if rec, err = box.Find(name); err != nil {
			return rec, nil, err
		}
		wasm, err = box.Module(rec)
		var changed *toolbox.ChangedError
		if !errors.As(err, &changed) {
			return rec, wasm, err
		}
		if now, findErr := box.Find(name); findErr == nil && now.Digest == rec.Digest {
			return rec, nil, err
		}
	}
	return rec, nil, err
}

// toolbox is where the tools are that were added. One that a --config names, and that is not there, is a mistake.
func (a *app) toolbox() (toolbox.Box, error) {
	dir, err := a.config()
	if err != nil {
		return toolbox.Box{}, err
	}
	if a.configDir != "" {
		if _, err := os.Stat(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return toolbox.Box{}, fileError(err)
		}
	}
	return toolbox.In(dir), nil
}
