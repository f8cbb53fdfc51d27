package crashtest

import (
	"encoding/json"
	"time"

	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
)

// Run is the id of every run.
const Run = "run"

// Job is what a process is to do.
type Job struct {
	// Kill is where it dies; nil lets it live.
	Kill *Place `json:"kill,omitempty"`
	// World is where the world is, and Model where the model is, "" for none.
	World world.Remote `json:"world"`
	Model string       `json:"model,omitempty"`
	// Clock is when the run begins.
	Clock time.Time `json:"clock"`
	// Approvals are the answers of people, as in world.World.
	Approvals []world.Approval `json:"approvals,omitempty"`
	// Offer is what the run may be granted out of the world.
	Offer offer.Offer `json:"offer"`
	// Dir is the directory of the trial: the journal and the run's files are below it.
	Dir string `json:"dir"`
}

// Doubt is an effect of which a process does not know whether it took place.
type Doubt struct {
	Step journal.Step `json:"step"`
	// Name is the host function, Key the idempotency key.
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Verdict is what the world knows of it.
type Verdict struct {
	// Unknown says that it does not know either.
	Unknown bool `json:"unknown,omitempty"`
	// Happened says that it took place, with Reply as "wrun resolve --happened" takes it.
	Happened bool            `json:"happened,omitempty"`
	Reply    json.RawMessage `json:"reply,omitempty"`
}

// End is what a process says that was not killed.
type End struct {
	// Output is what the run returned, Failed the code with which it failed, and Stopped why it is not finished.
	Output  json.RawMessage `json:"output,omitempty"`
	Failed  string          `json:"failed,omitempty"`
	Stopped string          `json:"stopped,omitempty"`
	// Log is the run's log, of which the first Had entries were there when the process began. Forgotten says how many of those are
	// not what they were.
	Log       []Line `json:"log,omitempty"`
	Had       int    `json:"had,omitempty"`
	Forgotten int    `json:"forgotten,omitempty"`
	Trace     Trace  `json:"trace,omitempty"`
	// Told are the doubts that were settled by what the world knew.
	Told int `json:"told,omitempty"`
	// Twice are the idempotency keys of a model's answers of which the run's books say that they may have been paid for twice.
	Twice []string `json:"twice,omitempty"`
	// Files are the digests of the run's files, by path.
	Files map[string]string `json:"files,omitempty"`
}

// Line is an entry of a log as it is shown.
type Line struct {
	Kind    string       `json:"kind"`
	Step    journal.Step `json:"step,omitempty"`
	Name    string       `json:"name,omitempty"`
	Outcome string       `json:"outcome,omitempty"`
	Doubt   bool         `json:"doubt,omitempty"` // an intent that must not be repeated
	By      string       `json:"by,omitempty"`
	Key     string       `json:"key,omitempty"`
	Hash    string       `json:"-"`
}

// Lived is how a process ended.
type Lived struct {
	// Died is where it said that it would kill itself, nil when it did not. Killed says that SIGKILL ended it.
	Died   *Place
	Killed bool
	// End is what it said; nil for one that was killed.
	End *End
	// Said is what it wrote to standard error, and Code its exit code.
	Said string
	Code int
}
