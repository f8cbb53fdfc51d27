package hostfuncs

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wrun-dev/wrun/toolabi"
)

// MaxGrants is how many things of a kind can be granted at once.
const MaxGrants = 1000

// Validate says what is wrong with the grants by themselves, or nil: too many of a kind, what is not in its only spelling, and
// what was granted as two things and can be only one, a *GrantConflictError.
func (g Grants) Validate() error {
	for _, n := range []int{len(g.HTTP), len(g.Dirs), len(g.Nets), len(g.Secrets), len(g.Config), len(g.KV), len(g.Mail.To)} {
		if n > MaxGrants {
			return fmt.Errorf("%d grants of a kind: at most %d are allowed", n, MaxGrants)
		}
	}
	for _, check := range []func() error{g.validateHTTP, g.validateDirs, g.validateSecrets, g.validateConfig, g.validateKV, g.validateWorkspace, g.Mail.validate} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (g Grants) validateHTTP() error {
	for _, s := range g.HTTP {
		if h, err := ParseHTTPGrant(s); err != nil {
			return err
		} else if h.String() != s {
			return fmt.Errorf("grant of %q: write it as %s", toolabi.CutText(s, 200), h)
		}
	}
	for _, s := range g.Nets {
		if n, err := ParseNet(s); err != nil {
			return err
		} else if n != s {
			return fmt.Errorf("grant of net %s: write it as %s", toolabi.CutText(s, 80), n)
		}
	}
	return nil
}

func (g Grants) validateDirs() error {
	for _, d := range g.Dirs {
		if !toolabi.IsDirName(d.Name) || !cleanPath(d.Path) {
			return fmt.Errorf("grant of directory %q: want a name of lower-case letters, digits and inner hyphens, and an absolute, clean path", toolabi.CutText(d.Name+"="+d.Path, 200))
		}
		if other, _ := g.Dir(d.Name); d != other {
			return conflict(GrantedDir, d.Name, other.Path, d.Path)
		}
	}
	return nil
}

func (g Grants) validateKV() error {
	seen := make(map[string]KVGrant, len(g.KV))
	for _, k := range g.KV {
		if !toolabi.IsStoreName(k.Store) {
			return fmt.Errorf("grant of store %q: want a name of lower-case letters, digits and inner hyphens, at most 64", toolabi.CutText(k.Store, 80))
		}
		if other, twice := seen[k.Store]; twice && other != k {
			return fmt.Errorf("store %s is granted twice: as %s and as %s", k.Store, other, k)
		}
		seen[k.Store] = k
	}
	return nil
}

func (g Grants) validateWorkspace() error {
	switch w := g.Workspace; {
	case w == WorkspaceGrant{} || cleanPath(w.Path):
		return nil
	case w.Path == "":
		return errors.New("grant of a workspace: which directory?")
	default:
		return fmt.Errorf("grant of workspace %q: want an absolute, clean path", toolabi.CutText(w.Path, 200))
	}
}

func cleanPath(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && len(path) <= maxDirPath
}
