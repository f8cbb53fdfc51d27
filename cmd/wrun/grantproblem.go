package main

import (
	"errors"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/toolbox"
)

// grantProblem knows what can be wrong with grants, and with the tools that were added.
func (a *app) grantProblem(err error) (problem, bool) {
	var (
		conflict  *hostfuncs.GrantConflictError
		untrusted *grantfile.UntrustedError
		notAdded  *notAddedError
		unknown   *toolbox.UnknownError
		changed   *toolbox.ChangedError
		file      *toolbox.FileError
	)
	switch {
	case errors.As(err, &conflict):
		if conflict.Kind == hostfuncs.GrantedDir {
			return problem{code: codeDir}, true
		}
		return problem{code: codeConflict}, true
	case errors.As(err, &untrusted):
		p := problem{code: codeOthers}
		if untrusted.Mode {
			p.next = "chmod go-w " + quoted(untrusted.Path)
		}
		return p, true
	case errors.As(err, &notAdded):
		return problem{code: codeNotAdded, known: "there is a file of this name in the working directory", next: "the same command, with " + quoted(notAdded.file) + " for the file\n" + a.cmd("tool add "+quoted(notAdded.file))}, true
	case errors.As(err, &unknown):
		return problem{code: codeNotAdded, next: a.cmd("tool add FILE.wasm") + "\n" + a.cmd("tool ls")}, true
	case errors.As(err, &changed):
		return problem{code: codeChanged, next: a.cmd("tool rm "+changed.Name) + "\n" + a.cmd("tool add FILE.wasm")}, true
	case errors.As(err, &file):
		return problem{code: codeConfig}, true
	case errors.Is(err, toolbox.ErrMoved):
		return problem{code: codeMoved, next: "the same command again"}, true
	case errors.Is(err, toolbox.ErrNoPlace):
		return problem{code: codeUsage}, true
	}
	return problem{}, false
}
