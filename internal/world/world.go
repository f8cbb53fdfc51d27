package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// DefaultClock is when a call starts where a world does not say it.
var DefaultClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// World is what is there when a call begins. The zero value is empty: whatever a tool asks for is unexpected. It is not changed
// once it was read.
type World struct {
	// Clock is when the call starts, in UTC; zero means DefaultClock.
	Clock time.Time
	// HTTP are the routes, the first that fits answers.
	HTTP []*Route
	// KV are the stores by name, and what is in them.
	KV map[string]map[string]*Body
	// Files is the workspace, by path.
	Files map[string]string
	// Config are the settings of the module, Secrets the values by name.
	Config, Secrets map[string]string
	// Approvals are the answers of people, in order, the last again and again; none means that nobody answers.
	Approvals []Approval
	// Mail is what the mail server does with each message, in order, the last again and again; none means that there is no server.
	Mail []Mail
	// Tools are those of other modules, by "module.tool", and what they answer, in order, the last again and again.
	Tools map[string][]ToolReply

	set                 map[string]bool // the fields that were written down
	noConfig, noSecrets map[string]bool // what is known not to be there
}

// Without says that a setting or a secret is known not to be there: asking for it is nothing unexpected.
func (w *World) Without(name string) bool { return w.noConfig[name] || w.noSecrets[name] }

// Approval is one answer of a person.
type Approval struct {
	Yes bool
	// By is who answers; "" means "tester".
	By, Note string
}

// Who is who answers.
func (a Approval) Who() string { return cmp.Or(a.By, "tester") }

// Mail is what the mail server does with a message.
type Mail string

// The fates of a message.
const (
	Accept Mail = "accept"
	Refuse Mail = "refuse"
	// Lost takes it over and says nothing more.
	Lost Mail = "lost"
)

// ToolReply is what a tool of another module answers: an output, or an error.
type ToolReply struct {
	Output any // JSON
	Err    *toolabi.Error
}

// At is when the call starts.
func (w *World) At() time.Time {
	if w.Clock.IsZero() {
		return DefaultClock
	}
	return w.Clock
}

// Merge returns the shared world with the fields in the place of its own that own has. Its routes are marked as shared where they
// are not own's. Either may be nil.
func Merge(shared, own *World) *World {
	var m World
	if shared != nil {
		m = *shared
		m.set = maps.Clone(shared.set)
		m.HTTP = nil
		for _, r := range shared.HTTP {
			c := *r
			c.Shared = true
			m.HTTP = append(m.HTTP, &c)
		}
	}
	if own == nil {
		return &m
	}
	if m.set == nil {
		m.set = map[string]bool{}
	}
	maps.Copy(m.set, own.set)
	for _, f := range fields {
		if own.set[f.name] {
			f.take(&m, own)
		}
	}
	return &m
}

// Route finds a route by its name.
func (w *World) Route(name string) (*Route, bool) {
	i := slices.IndexFunc(w.HTTP, func(r *Route) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return w.HTTP[i], true
}

// Nth is the item of a list of answers that the n-th question gets, counted from 0: the last again and again. There is none in an
// empty list.
func Nth[T any](list []T, n int) (answer T, ok bool) {
	if len(list) == 0 {
		return answer, false
	}
	return list[min(n, len(list)-1)], true
}

// LackSecret writes down that a secret is not there.
func (w *World) LackSecret(name string) {
	if w.noSecrets == nil {
		w.noSecrets = map[string]bool{}
	}
	w.noSecrets[name] = true
}

// LackConfig is LackSecret for a setting.
func (w *World) LackConfig(key string) {
	if w.noConfig == nil {
		w.noConfig = map[string]bool{}
	}
	w.noConfig[key] = true
}
