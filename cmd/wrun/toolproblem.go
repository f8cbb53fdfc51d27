package main

import (
	"errors"

	"github.com/wrun-dev/wrun/internal/scaffold"
	"github.com/wrun-dev/wrun/internal/toolbuild"
	"github.com/wrun-dev/wrun/internal/toolpack"
)

// toolProblem knows what can be wrong while a tool is made.
func (a *app) toolProblem(err error) (problem, bool) {
	var (
		missing  *toolbuild.MissingError
		nothing  *toolbuild.NothingError
		failed   *toolbuild.FailedError
		occupied *scaffold.OccupiedError
		format   *toolpack.FormatError
		differs  *toolpack.DisagreesError
	)
	switch {
	case errors.As(err, &missing):
		return problem{code: codeToolchain, next: missing.Get}, true
	case errors.As(err, &nothing):
		return problem{code: codeBuild, next: a.cmd("tool new NAME") + ", for sources that build"}, true
	case errors.As(err, &failed):
		return problem{code: codeBuild}, true
	case errors.As(err, &occupied):
		return problem{code: codeOccupiedDir, next: "the same command, with another DIR"}, true
	case errors.As(err, &format):
		return problem{code: codeNotPackage}, true
	case errors.As(err, &differs):
		return problem{code: codePackageDiffers}, true
	}
	return problem{}, false
}
