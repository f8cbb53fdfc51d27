package sdk

import (
	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// Option adds to what a module says of itself.
type Option func(*toolabi.Manifest)

// Module names the module that is being built, in the form that toolabi.Manifest asks for. It is called once, in init;
// what is wrong with it is reported when the module is described.
func Module(name, version, description string, options ...Option) {
	registry.Default.Module(func(m *toolabi.Manifest) {
		m.Name, m.Version, m.Description = name, version, description
		for _, option := range options {
			option(m)
		}
		warmModule(m)
	})
}

// Need asks for a host function, such as toolabi.FuncHTTPSend, with the reason for the person who grants it. Targets are
// what it wants to reach, as toolabi.Capability says: origins for the HTTP functions, module.tool or module.* for
// toolabi.FuncToolCall, names for the functions of stores, secrets and settings, addresses for toolabi.FuncMailSend; none means whatever is granted, and every tool of the run.
func Need(function, reason string, targets ...string) Option {
	return func(m *toolabi.Manifest) {
		m.Capabilities = append(m.Capabilities, toolabi.Capability{Name: function, Reason: reason, Targets: targets})
	}
}

// Secrets says which secrets the requests of an HTTP function may refer to. It comes behind the Need for that function.
func Secrets(function string, names ...string) Option {
	return func(m *toolabi.Manifest) {
		for i := range m.Capabilities {
			if m.Capabilities[i].Name == function {
				m.Capabilities[i].Secrets = append(m.Capabilities[i].Secrets, names...)
				return
			}
		}
		m.Capabilities = append(m.Capabilities, toolabi.Capability{Name: function, Secrets: names}) // which gives no reason, and is refused
	}
}

// Limit bounds each call of the module's tools. An operator can lower it, and not raise it.
func Limit(limits toolabi.Limits) Option {
	return func(m *toolabi.Manifest) { m.Limits = limits }
}
