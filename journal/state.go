package journal

import (
	"maps"
	"slices"
	"strings"
)

// State is a log folded: all that the rules need to judge the next entry, and all that a listing shows. The zero value
// with Run set is the state of a log that does not exist yet.
type State struct {
	// Run is the run's id.
	Run string `cbor:"1,keyasint"`
	// Len is the log's length, Head the hash of its last entry.
	Len  uint64 `cbor:"2,keyasint"`
	Head Digest `cbor:"3,keyasint,omitzero"`
	// Began and Time are the times of the first and the last entry.
	Began int64 `cbor:"4,keyasint,omitempty"`
	Time  int64 `cbor:"5,keyasint,omitempty"`
	// Driver is the name of the created entry.
	Driver string `cbor:"6,keyasint,omitempty"`
	// Owner is who claimed the run and has not released it; Lease is when the claim ends by itself, 0 for not at all.
	Owner string `cbor:"7,keyasint,omitempty"`
	Lease int64  `cbor:"8,keyasint,omitempty"`
	// Crashes counts the claims in a row that followed a claim without progress.
	Crashes int `cbor:"9,keyasint,omitempty"`
	// Progress says that the present claim has brought a result.
	Progress bool `cbor:"10,keyasint,omitempty"`
	// Open holds the steps with an intent and neither result nor void.
	Open map[Step]OpenStep `cbor:"11,keyasint,omitempty"`
	// Again holds the steps whose last attempt ended in a way that permits the next one.
	Again map[Step]bool `cbor:"12,keyasint,omitempty"`
	// Stopped is the name of the release that the log ends its last claim with.
	Stopped string `cbor:"13,keyasint,omitempty"`
	// Late counts the late entries that nobody has acknowledged.
	Late int `cbor:"14,keyasint,omitempty"`
	// CancelAsked, Unconfirmed and Finished say which of cancel, restored (not confirmed) and finished the log holds.
	CancelAsked bool `cbor:"15,keyasint,omitempty"`
	Unconfirmed bool `cbor:"16,keyasint,omitempty"`
	Finished    bool `cbor:"17,keyasint,omitempty"`
	// Outcome says how a finished run ended.
	Outcome Outcome `cbor:"18,keyasint,omitempty"`
	// Steps counts the results of the driver's own steps.
	Steps uint64 `cbor:"19,keyasint,omitempty"`
	// Asked holds the steps that must not begin without a yes that is not used up yet, with the last question about each.
	Asked map[Step]Answer `cbor:"20,keyasint,omitempty"`
	// Due is when the run can go on by itself, as its last release says; 0 when time alone does not help.
	Due int64 `cbor:"21,keyasint,omitempty"`
	// Woken says that somebody has said something since the run was claimed last: whoever drove it may not have seen it.
	Woken bool `cbor:"22,keyasint,omitempty"`
	// Imported says that the run is driven where it was exported from, and not here.
	Imported bool `cbor:"23,keyasint,omitempty"`
	// Labels are the run's labels, by their keys.
	Labels map[string]string `cbor:"24,keyasint,omitempty"`
}

// Answer is what became of the question whether a step may begin.
type Answer struct {
	// Question is the step that asked.
	Question Step `cbor:"1,keyasint"`
	// Request is the question's: the digest of all that was shown.
	Request Digest `cbor:"2,keyasint"`
	// Module is the module that the step would enter.
	Module Digest `cbor:"3,keyasint,omitzero"`
	// Yes says that somebody agreed; until then, and after a no, the step does not begin.
	Yes bool `cbor:"4,keyasint,omitempty"`
	// Expires is the last moment at which the yes may be used, 0 for ever.
	Expires int64 `cbor:"5,keyasint,omitempty"`
}

// OpenStep is a step between its intent and its result.
type OpenStep struct {
	// Seq is the position of the intent.
	Seq uint64 `cbor:"1,keyasint"`
	// OnCut is the intent's.
	OnCut OnCut `cbor:"2,keyasint"`
	// Touched says that an effect that must not be repeated took place in it or below it.
	Touched bool `cbor:"3,keyasint,omitempty"`
	// Name is what the step calls.
	Name string `cbor:"4,keyasint,omitempty"`
	// Unsent says that the evidence is that nothing of it left the host.
	Unsent bool `cbor:"5,keyasint,omitempty"`
	// Due and Expires are the intent's.
	Due     int64 `cbor:"6,keyasint,omitempty"`
	Expires int64 `cbor:"7,keyasint,omitempty"`
}

// Status is what a listing says of a run. Whether a claimed run's owner still lives is not in the log; a caller that
// can tell turns Running into Interrupted.
type Status string

// The statuses.
const (
	Running     Status = "running"
	Interrupted Status = "interrupted"
	Waiting     Status = "waiting"
	Uncertain   Status = "uncertain"
	Diverged    Status = "diverged"
	Limited     Status = "limited"
	Done        Status = "done"
	Failed      Status = "failed"
	CancelledUp Status = "cancelled"
	Elsewhere   Status = "imported"
)

// Status folds the state into one word.
func (s *State) Status() Status {
	switch {
	case s.Finished && s.Outcome == OK:
		return Done
	case s.Finished && s.Outcome == Cancelled:
		return CancelledUp
	case s.Finished:
		return Failed
	case s.Imported:
		return Elsewhere
	case s.Owner != "":
		return Running
	case s.Late > 0, s.Stopped == StopUncertain:
		return Uncertain
	case s.Stopped == StopWaiting: // perhaps for an effect in doubt, until it can be looked up
		return Waiting
	case len(s.InDoubt()) > 0:
		return Uncertain
	case s.Stopped == StopDiverged:
		return Diverged
	case s.Stopped == StopLimit:
		return Limited
	}
	return Interrupted
}

// Unsettled says whether there is anything left to do or to say of the run: it is not finished, or left something in doubt,
// or an outcome came too late, or it was restored.
func (s *State) Unsettled() bool {
	return !s.Finished || s.Late > 0 || s.Unconfirmed || len(s.InDoubt()) > 0
}

// InDoubt returns the open steps of which nobody knows whether they happened, in the order of their intents. While the
// run's owner lives they may simply be under way.
func (s *State) InDoubt() []Step {
	return slices.DeleteFunc(s.InOrder(), func(step Step) bool {
		o := s.Open[step]
		return o.OnCut != Doubt || o.Unsent
	})
}

// InOrder returns the open steps in the order of their intents.
func (s *State) InOrder() []Step {
	steps := slices.Collect(maps.Keys(s.Open))
	slices.SortFunc(steps, func(a, b Step) int {
		if d := int64(s.Open[a].Seq) - int64(s.Open[b].Seq); d != 0 {
			return int(d)
		}
		return strings.Compare(string(a), string(b))
	})
	return steps
}

// Fuses says whether a call's intent may wait for the first entry that must be durable. After a crash without
// progress it may not, so that the step which kills its process is on the disk.
func (s *State) Fuses() bool { return s.Crashes == 0 }

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	c := *s
	c.Open, c.Again, c.Asked, c.Labels = maps.Clone(s.Open), maps.Clone(s.Again), maps.Clone(s.Asked), maps.Clone(s.Labels)
	return &c
}
