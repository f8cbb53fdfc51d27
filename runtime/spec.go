package runtime

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Spec is what a run is made of. It is the body of the log's first entry and never changes.
type Spec struct {
	// Driver is the name of the driver, Version its version; a resume with another version diverges.
	Driver  string `cbor:"1,keyasint"`
	Version string `cbor:"2,keyasint,omitempty"`
	// Plan is the driver's text: a plan file, an agent file, the name of a tool.
	Plan []byte `cbor:"3,keyasint,omitempty"`
	// Input is the run's input, JSON.
	Input []byte `cbor:"4,keyasint,omitempty"`
	// Modules are the modules that the run may call.
	Modules []Module `cbor:"5,keyasint,omitempty"`
	// Grants is what they may do; a resume may add to it.
	Grants hostfuncs.Grants `cbor:"6,keyasint,omitzero"`
	// Limits bound each call beside what the manifests say.
	Limits toolabi.Limits `cbor:"7,keyasint,omitzero"`
	// Labels are those that the run begins with; see Engine.Label. They are no part of what it is made of, and of a Spec that was read
	// from a journal they are nil: journal.State has those that the run has now.
	Labels map[string]string `cbor:"-"`
}

// Module is one module of a run, pinned by its digest. Its bytes are a blob of the journal.
type Module struct {
	// Name is what the driver calls it by; the manifest's name unless the driver says otherwise.
	Name string `cbor:"1,keyasint"`
	// Digest is the SHA-256 of the module's bytes.
	Digest toolabi.Digest `cbor:"2,keyasint"`
	// Manifest is the module's manifest.
	Manifest toolabi.Manifest `cbor:"3,keyasint"`
	// Grants is what this module may do beside what the run's Grants let every module do.
	Grants hostfuncs.Grants `cbor:"4,keyasint,omitzero"`
}

// tool finds "module.tool".
func (s *Spec) tool(name string) (Module, toolabi.Tool, error) {
	module, tool, ok := strings.Cut(name, ".")
	if !ok {
		return Module{}, toolabi.Tool{}, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("tool %q: want module.tool", name))
	}
	i := slices.IndexFunc(s.Modules, func(m Module) bool { return m.Name == module })
	if i < 0 {
		return Module{}, toolabi.Tool{}, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("tool %q: the run has no module %q", name, module))
	}
	t, ok := s.Modules[i].Manifest.Tool(tool)
	if !ok {
		return Module{}, toolabi.Tool{}, toolabi.NewError(toolabi.NotFound, fmt.Sprintf("module %s has no tool %q", module, tool))
	}
	return s.Modules[i], t, nil
}

// differs names what makes o another run than s; "" when they are the same. Grants are not compared: a resume may add
// to them.
func (s *Spec) differs(o *Spec) string {
	switch {
	case s.Driver != o.Driver:
		return fmt.Sprintf("driver (it began with %s, this is %s)", s.Driver, o.Driver)
	case !bytes.Equal(s.Plan, o.Plan):
		return "plan"
	case !bytes.Equal(s.Input, o.Input):
		return "input"
	case s.Limits != o.Limits:
		return "set of limits"
	}
	for _, m := range o.Modules {
		i := slices.IndexFunc(s.Modules, func(n Module) bool { return n.Name == m.Name })
		if i < 0 || s.Modules[i].Digest != m.Digest {
			return fmt.Sprintf("module %s (digest %s now)", m.Name, m.Digest.Short())
		}
	}
	return ""
}

// judgeGrants says why a run must not begin with its grants: a program has to find every directory that it wants.
func (s *Spec) judgeGrants() error {
	if err := s.Grants.Validate(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	for _, m := range s.Modules {
		if err := m.Grants.Validate(); err != nil {
			return fmt.Errorf("start: module %s: %w", m.Name, err)
		}
		if err := m.Grants.Conflict(s.Grants); err != nil {
			return fmt.Errorf("start: module %s: %w", m.Name, err)
		}
		grants := m.granted(s.Grants)
		mounts, missing := grants.Mounts(m.Manifest.Command)
		if len(missing) > 0 {
			return &UngrantedError{Module: m.Name, Dirs: missing}
		}
		if err := usable("", grants, mounts); err != nil {
			return err
		}
	}
	return nil
}

// ownGrants are those of the modules.
func (s *Spec) ownGrants() []hostfuncs.Grants {
	own := make([]hostfuncs.Grants, 0, len(s.Modules))
	for _, m := range s.Modules {
		own = append(own, m.Grants)
	}
	return own
}

// own is the module's own name, which is not the driver's to choose: its store and its settings belong to it.
func (m Module) own() string {
	if m.Manifest.Name != "" {
		return m.Manifest.Name
	}
	return m.Name
}

// granted is what the module may do in a run with these grants.
func (m Module) granted(run hostfuncs.Grants) hostfuncs.Grants {
	if m.Grants.IsZero() {
		return run
	}
	return m.Grants.Union(run)
}

func (s *Spec) refs() []journal.Digest {
	refs := make([]journal.Digest, 0, len(s.Modules))
	for _, m := range s.Modules {
		refs = append(refs, journal.Digest(m.Digest))
	}
	return refs
}
