package toolabi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Manifest describes a module: what its tools are, what they promise and what they want.
type Manifest struct {
	// Name is the module's name: lower-case letters, digits and inner hyphens, at most 64.
	Name string `cbor:"1,keyasint" json:"name"`
	// Version is the module's version in the form of semver.org, without a leading v.
	Version string `cbor:"2,keyasint" json:"version"`
	// Tools are the module's tools, at least one, at most 256, with different names.
	Tools []Tool `cbor:"3,keyasint" json:"tools"`
	// Capabilities are the host functions that the module wants, each at most once.
	Capabilities []Capability `cbor:"4,keyasint,omitempty" json:"capabilities,omitempty"`
	// Limits are what the author thinks enough; an operator can only lower them.
	Limits Limits `cbor:"5,keyasint,omitzero" json:"limits,omitzero"`
	// Description says in a sentence what the module is for.
	Description string `cbor:"6,keyasint,omitempty" json:"description,omitempty"`
	// Command is set when the module is a program of WASI preview 1 instead of a module of ABI 1.
	Command *Command `cbor:"7,keyasint,omitempty" json:"command,omitempty"`
}

// Tool is one named function of a module.
type Tool struct {
	// Name is the tool's name: lower-case letters, digits and underscores, at most 64.
	Name string `cbor:"1,keyasint" json:"name"`
	// Description tells people and models what the tool does.
	Description string `cbor:"2,keyasint,omitempty" json:"description,omitempty"`
	// Input is the JSON Schema (draft 2020-12) of the input; none accepts any JSON.
	Input RawJSON `cbor:"3,keyasint,omitempty" json:"input,omitempty"`
	// Output is the JSON Schema of the output; none accepts any JSON.
	Output RawJSON `cbor:"4,keyasint,omitempty" json:"output,omitempty"`
	// Idempotency is the tool's promise; none means NonIdempotent.
	Idempotency Idempotency `cbor:"5,keyasint,omitempty" json:"idempotency,omitempty"`
	// KeyTTLMS is how long the provider remembers an idempotency key, in milliseconds; mandatory for Keyed.
	KeyTTLMS uint64 `cbor:"6,keyasint,omitempty" json:"key_ttl_ms,omitempty"`
	// Lookup is the ReadOnly tool of the same module that can tell what became of a call: from a LookupInput to a
	// LookupOutput.
	Lookup string `cbor:"7,keyasint,omitempty" json:"lookup,omitempty"`
	// SettleMS is how long a request may still be on its way after its timeout, in milliseconds; mandatory with Lookup.
	SettleMS uint64 `cbor:"8,keyasint,omitempty" json:"settle_ms,omitempty"`
	// Compensate is another tool of the same module, which undoes a call: it gets a CompensateInput.
	Compensate string `cbor:"9,keyasint,omitempty" json:"compensate,omitempty"`
	// Destructive says that what the tool does cannot be undone.
	Destructive bool `cbor:"10,keyasint,omitempty" json:"destructive,omitempty"`
	// Approval says that a person has to agree before each call.
	Approval bool `cbor:"11,keyasint,omitempty" json:"approval,omitempty"`
	// TimeoutMS bounds the live time of one call in milliseconds; 0 means the module's limit.
	TimeoutMS uint64 `cbor:"12,keyasint,omitempty" json:"timeout_ms,omitempty"`
	// Retry says how often the tool may be tried again after a failure that permits it.
	Retry RetryPolicy `cbor:"13,keyasint,omitzero" json:"retry,omitzero"`
}

// RetryPolicy says how a failed call is tried again.
type RetryPolicy struct {
	// Attempts is how many there may be in all; 0 and 1 mean no retry.
	Attempts uint32 `cbor:"1,keyasint,omitempty" json:"attempts,omitempty"`
	// BackoffMS is the pause before the second attempt in milliseconds; it doubles each time.
	BackoffMS uint64 `cbor:"2,keyasint,omitempty" json:"backoff_ms,omitempty"`
	// MaxBackoffMS bounds the pause in milliseconds; 0 means five minutes.
	MaxBackoffMS uint64 `cbor:"3,keyasint,omitempty" json:"max_backoff_ms,omitempty"`
}

// Capability is one host function that a module wants, and why.
type Capability struct {
	// Name is the host function's name.
	Name string `cbor:"1,keyasint" json:"name"`
	// Reason is the author's, for the person who grants it.
	Reason string `cbor:"2,keyasint" json:"reason"`
	// Targets are what it wants to reach: for the http functions what hostfuncs.ParseHTTPGrant reads, such as
	// "POST https://api.example.com/charges"; module.tool or module.* for tool_call; names of secrets for secret_has, keys for
	// config_get, names of stores for the functions of stores, addresses or @domains for mail_send. None means whatever is
	// granted, and every tool of the run.
	Targets []string `cbor:"3,keyasint,omitempty" json:"targets,omitempty"`
	// Secrets are the names of the secrets that requests of the http functions may refer to. None means that they may refer to
	// none.
	Secrets []string `cbor:"4,keyasint,omitempty" json:"secrets,omitempty"`
}

// RawJSON is JSON kept as the bytes it came as. In CBOR it is a byte string.
type RawJSON []byte

// MarshalJSON returns the bytes, or null.
func (r RawJSON) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps the bytes.
func (r *RawJSON) UnmarshalJSON(b []byte) error {
	*r = slices.Clone(b)
	return nil
}

// Declared returns the tool's idempotency, NonIdempotent when nothing is declared.
func (t Tool) Declared() Idempotency {
	if t.Idempotency == "" {
		return NonIdempotent
	}
	return t.Idempotency
}

// Tool finds a tool by its name.
func (m *Manifest) Tool(name string) (Tool, bool) {
	for _, t := range m.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// ParseManifest reads the content of a manifest section and validates it.
func ParseManifest(b []byte) (*Manifest, error) {
	if len(b) > MaxManifest {
		return nil, fmt.Errorf("manifest has %d bytes, at most %d are allowed", len(b), MaxManifest)
	}
	m := new(Manifest)
	if err := Decode(b, m); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Validate reports everything that is wrong with the manifest by itself.
func (m *Manifest) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("manifest: "+format, a...)) }
	if !IsModuleName(m.Name) {
		bad("name %q: want lower-case letters, digits and inner hyphens, at most 64", CutText(m.Name, 80))
	}
	if !isVersion(m.Version) {
		bad("version %q: want a semantic version such as 1.2.3", CutText(m.Version, 80))
	}
	if len(m.Tools) == 0 || len(m.Tools) > 256 {
		bad("%d tools: want 1 to 256", len(m.Tools))
	}
	for _, err := range m.validateCommand() {
		bad("%w", err)
	}
	if m.Limits.TimeoutMS > MaxManifestMS {
		bad("timeout of %d ms: at most %d", m.Limits.TimeoutMS, uint64(MaxManifestMS))
	}
	seen := map[string]bool{}
	for _, t := range m.Tools {
		if seen[t.Name] {
			bad("tool %q is described twice", t.Name)
		}
		seen[t.Name] = true
		if err := m.validateTool(t); err != nil {
			errs = append(errs, err)
		}
	}
	wanted := map[string]bool{}
	for _, c := range m.Capabilities {
		if wanted[c.Name] {
			bad("capability %q is asked for twice", c.Name)
		}
		wanted[c.Name] = true
		if f, ok := FunctionByName(c.Name); !ok {
			bad("capability %q is not a host function of this version", CutText(c.Name, 80))
		} else if !f.Capability {
			bad("capability %q needs no asking", c.Name)
		}
		if strings.TrimSpace(c.Reason) == "" {
			bad("capability %q gives no reason", CutText(c.Name, 80))
		}
		for _, name := range c.Secrets {
			switch {
			case c.Name != FuncHTTPFetch && c.Name != FuncHTTPSend:
				bad("capability %s: secrets are for %s and %s", c.Name, FuncHTTPFetch, FuncHTTPSend)
			case !IsSecretName(name):
				bad("capability %s: %q is no name of a secret", c.Name, CutText(name, 80))
			}
		}
		if c.Targets != nil && len(c.Targets) == 0 {
			bad("capability %s: a list of targets with nothing in it: leave it out for whatever is granted", CutText(c.Name, 80))
		}
		for _, target := range c.Targets {
			if c.Name == FuncToolCall && !isToolTarget(target) {
				bad("capability %s: target %q is no tool: want module.tool or module.*", c.Name, CutText(target, 160))
			}
			if strings.HasPrefix(c.Name, "kv_") && !IsStoreName(target) {
				bad("capability %s: target %q is no name of a store: want lower-case letters, digits and inner hyphens", c.Name, CutText(target, 160))
			}
		}
	}
	return errors.Join(errs...)
}

func (m *Manifest) validateTool(t Tool) error {
	var errs []error
	bad := func(format string, a ...any) {
		errs = append(errs, fmt.Errorf("manifest: tool %q: "+format, append([]any{CutText(t.Name, 80)}, a...)...))
	}
	if !isToolName(t.Name) {
		bad("want a name of lower-case letters, digits and underscores, at most 64, beginning with a letter")
	}
	if t.Idempotency != "" && !slices.Contains(Idempotencies, t.Idempotency) {
		bad("idempotency %q is none of %v", CutText(string(t.Idempotency), 40), Idempotencies)
	}
	if t.Idempotency == Keyed && t.KeyTTLMS == 0 {
		bad("keyed needs a key_ttl: how long the provider remembers a key")
	}
	if t.Idempotency != Keyed && t.KeyTTLMS != 0 {
		bad("key_ttl is for keyed tools only")
	}
	for _, ms := range []uint64{t.KeyTTLMS, t.SettleMS, t.TimeoutMS, t.Retry.BackoffMS, t.Retry.MaxBackoffMS} {
		if ms > MaxManifestMS {
			bad("a time of %d ms: at most %d", ms, uint64(MaxManifestMS))
		}
	}
	for _, s := range []struct {
		what string
		raw  RawJSON
	}{{"input", t.Input}, {"output", t.Output}} {
		if len(s.raw) > 0 && !json.Valid(s.raw) {
			bad("the %s schema is not JSON", s.what)
		}
	}
	if t.Lookup != "" {
		l, ok := m.Tool(t.Lookup)
		switch {
		case !ok:
			bad("lookup %q is no tool of this module", CutText(t.Lookup, 80))
		case l.Declared() != ReadOnly:
			bad("lookup %q must declare idempotency read", t.Lookup)
		}
		if t.SettleMS == 0 {
			bad("lookup needs settle: how long a request may still be on its way")
		}
	}
	if t.Compensate != "" {
		if _, ok := m.Tool(t.Compensate); !ok {
			bad("compensate %q is no tool of this module", CutText(t.Compensate, 80))
		}
		if t.Compensate == t.Name {
			bad("it cannot compensate itself")
		}
	}
	return errors.Join(errs...)
}

// CheckImports holds the manifest against the host functions that the module imports: both must name the same
// capabilities, and at least one tool must be allowed to use each function.
func (m *Manifest) CheckImports(imports []string) error {
	var errs []error
	for _, name := range imports {
		f, ok := FunctionByName(name)
		if !ok {
			errs = append(errs, fmt.Errorf("module imports %s.%s, which this version of wrun does not offer", ImportModule, name))
			continue
		}
		asked := slices.ContainsFunc(m.Capabilities, func(c Capability) bool { return c.Name == name })
		if f.Capability && !asked {
			errs = append(errs, fmt.Errorf("module imports %s and its manifest does not ask for it", name))
		}
		if !slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Declared().Allows(f.Class) }) {
			errs = append(errs, fmt.Errorf("module imports %s (%s), which none of its tools may use: they all declare pure or read", name, f.Class))
		}
	}
	for _, c := range m.Capabilities {
		if !slices.Contains(imports, c.Name) {
			errs = append(errs, fmt.Errorf("manifest asks for %s and the module does not import it", c.Name))
		}
	}
	return errors.Join(errs...)
}
