package toolcase

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/world"
)

// grants reads a list of words such as "http POST https://api.example.com/charges".
func (r *reader) grants(n *yaml.Node) *Grants {
	g := &Grants{}
	for _, c := range r.List(n, "grants") {
		text := r.Str(c, "grants")
		if text == "" {
			continue
		}
		w, err := word(text)
		if err == nil {
			g.Grants, err = grantfile.With(g.Grants, w)
		}
		if err != nil {
			r.Fail(c, "%q: %v", text, err)
			continue
		}
		g.Words = append(g.Words, text)
	}
	return g
}

// word reads one grant: the flag, which may lack its allow-, and its value. What is the machine's own is filled in with what holds
// nothing: where a secret comes from, and where the workspace is.
func word(text string) (grantfile.Word, error) {
	flag, value, _ := strings.Cut(text, " ")
	if !slices.Contains(grantfile.Flags(), flag) && slices.Contains(grantfile.Flags(), "allow-"+flag) {
		flag = "allow-" + flag
	}
	switch flag {
	case "set":
		return grantfile.Word{}, fmt.Errorf("settings are written into the world, under config")
	case "dir":
		return grantfile.Word{}, fmt.Errorf("directories of programs cannot be granted in a case")
	case "secret":
		name, origins, bound := strings.Cut(value, "@")
		name, _, _ = strings.Cut(name, "=")
		if value = name + "=" + world.SecretSource(name); bound {
			value += "@" + origins
		}
	case "workspace":
		mode := "rw"
		if strings.HasSuffix(value, "ro") {
			mode = "ro"
		}
		value = WorkspacePath + ":" + mode
	}
	return grantfile.Word{Flag: flag, Value: value}, nil
}

// WorkspacePath stands for the directory of the workspace in the grants of a case.
const WorkspacePath = "workspace"
