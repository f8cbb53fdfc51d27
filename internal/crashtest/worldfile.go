package crashtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/internal/world"
)

// Format is the number of the format of files with worlds: that of cases for "wrun test".
const Format = "1"

// ParseWorld reads a file with a world: wrun_test: 1, and world. The error joins *strictyaml.Mistake, or says what of a world a whole
// run has no use for.
func ParseWorld(text []byte, files world.Files) (*world.World, error) {
	top, found := strictyaml.Load(text, strictyaml.Kind{Name: "file with a world", MaxBytes: world.MaxBytes, MaxDepth: world.MaxDepth})
	r := strictyaml.Found(found)
	w := new(world.World)
	if r.Count() == 0 {
		f := r.Fields(top, "a file with a world", []string{"wrun_test", "world"})
		if v := f["wrun_test"]; v == nil || v.Kind != yaml.ScalarNode || v.Value != Format {
			r.Fail(top, `it has to begin with "wrun_test: %s"`, Format)
		}
		if f["world"] == nil {
			r.Fail(top, `"world" is missing`)
		} else {
			w = world.Read(&r, f["world"], files)
		}
	}
	var errs []error
	for _, m := range r.Mistakes() {
		errs = append(errs, m)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return w, usable(w)
}

// usable says what of a world a whole run has no use for.
func usable(w *world.World) error {
	if len(w.Tools) > 0 {
		return fmt.Errorf("the world answers for the tool %s; in a whole run a tool is a module of the plan", slices.Sorted(maps.Keys(w.Tools))[0])
	}
	if len(w.KV) > 0 {
		return fmt.Errorf("the world has something in the store %s; a whole run begins with empty stores, so let a step put it there", slices.Sorted(maps.Keys(w.KV))[0])
	}
	return nil
}

// missing says what of the world was asked for and is not there.
func missing(events []world.Event) (said []string) {
	for _, e := range events {
		what := strings.TrimSpace(e.Method + " " + e.URL)
		if e.Kind == world.KindMail {
			what = "a message"
		}
		why := e.Why
		if e.Contradicted {
			why = "its key was used for another request"
		}
		said = append(said, fmt.Sprintf("the world has no answer to %s: %s", what, why))
	}
	return said
}
