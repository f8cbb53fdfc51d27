package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
)

// Child lets a process go on with the run of a directory, until it is dead.
type Child interface {
	// Live starts a process with a job, and answers its doubts by judge. It returns when the process has ended, and everything that it
	// started too; when ctx ends, it ends the process. It may be called concurrently for other directories. Errors are about what
	// could not be done, not about how the process ended.
	Live(ctx context.Context, job Job, judge func(Doubt) (Verdict, error)) (Lived, error)
}

// Trial is one run, and what became of it.
type Trial struct {
	// N is its number, from 1; 0 for one that nobody disturbs. Kills are where its processes died, one after the other.
	N     int     `json:"n"`
	Kills []Place `json:"kills"`
	// Where says the same in words.
	Where string `json:"where"`
	// Acted is how many effects the world did. Again are the requests that were sent again under their key, so that it did nothing.
	// Repeated and Lost are the effects that it did more and less often than without a death.
	Acted    int `json:"acted"`
	Again    int `json:"sent_again"`
	Repeated int `json:"repeated"`
	Lost     int `json:"lost"`
	// Doubts are the effects of unknown outcome; of these Found were settled by a look-up, and Told as a person would.
	Doubts int `json:"in_doubt"`
	Found  int `json:"looked_up"`
	Told   int `json:"told"`
	// Asked is how often a model was paid for an answer, Twice how often for one that it was paid for before, and Hidden how many of
	// those the books of the run do not name.
	Asked  int `json:"answers"`
	Twice  int `json:"paid_twice"`
	Hidden int `json:"paid_twice_unsaid"`
	// Differs says that the run ended otherwise than without a death.
	Differs bool `json:"differs"`
	// Missed says that the run did not come by the place this time.
	Missed bool `json:"missed"`
	// Findings are what is wrong. Where something is, and in the run that nobody disturbs, Log is the run's and Seen what the world saw;
	// Journal is where the journal of what is wrong is kept.
	Findings []string      `json:"findings,omitempty"`
	Log      []Line        `json:"log,omitempty"`
	Seen     []world.Event `json:"seen,omitempty"`
	Journal  string        `json:"journal,omitempty"`

	end   *End
	dir   string
	bills map[string]int
}

// Failed says whether something is wrong.
func (t *Trial) Failed() bool { return len(t.Findings) > 0 }

// Failure is what the run failed with, "" for one that did not.
func (t *Trial) Failure() string { return t.end.Failed }

// find notes what is wrong.
func (t *Trial) find(format string, args ...any) {
	t.Findings = append(t.Findings, fmt.Sprintf(format, args...))
}

// play makes a trial: each process but the last dies at one of the kills.
func (r *run) play(ctx context.Context, n int, name string, kills []Place) (_ *Trial, err error) {
	t := &Trial{N: n, Kills: kills, dir: filepath.Join(r.cfg.Dir, name), bills: map[string]int{}}
	if err := r.furnish(t.dir); err != nil {
		return nil, err
	}
	live, err := world.Start(r.cfg.World, world.Options{Mail: r.offer.Mail})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	job := Job{World: live.Remote(), Clock: r.cfg.World.At(), Approvals: r.cfg.World.Approvals, Offer: r.offer, Dir: t.dir}
	job.Offer.Workspace = Workspace(t.dir)
	if r.cfg.Script != nil {
		fake, err := fakemodel.Start(fakemodel.Config{Script: r.cfg.Script})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, fake.Close()) }()
		job.Model = fake.URL()
		defer func() {
			for _, b := range fake.Bills() {
				t.bills[b.Key]++
			}
		}()
	}
	if err := r.lives(ctx, t, live, job); err != nil {
		return nil, err
	}
	t.Seen = live.Seen()
	if len(live.Unexpected()) > 0 {
		t.Findings = append(t.Findings, missing(live.Unexpected())...)
	}
	return t, nil
}

// furnish makes the directory of a trial, with the files of the world in it.
func (r *run) furnish(dir string) error {
	if err := os.MkdirAll(Workspace(dir), 0o700); err != nil {
		return err
	}
	for name, text := range r.cfg.World.Files {
		path := filepath.Join(Workspace(dir), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lives lets one process after the other go on.
func (r *run) lives(ctx context.Context, t *Trial, live *world.Live, job Job) error {
	judge := func(d Doubt) (Verdict, error) { return verdict(live, d) }
	var was *Place
	for _, kill := range append(slices.Clone(t.Kills), Place{}) {
		if job.Kill = nil; kill.When != "" {
			job.Kill = &kill
		}
		lived, err := r.cfg.Child.Live(ctx, job, judge)
		if err == nil {
			err = live.Settle(ctx)
		}
		if err != nil {
			return err
		}
		switch {
		case lived.Died != nil && !lived.Killed:
			t.find("the process was to be killed %s, and lived on to exit code %d: %s", kill, lived.Code, lived.Said)
			t.end = &End{Stopped: "the process was not killed"}
			return nil
		case lived.End != nil:
			t.end = lived.End
			t.Told += lived.End.Told
			t.Missed = job.Kill != nil
			t.verifyDeath(was)
			return nil
		case job.Kill == nil || lived.Died == nil || *lived.Died != kill:
			t.find("the process ended by itself, with exit code %d: %s", lived.Code, lived.Said)
			t.end = &End{Stopped: "the process ended by itself"}
			return nil
		}
		was = &kill
	}
	return nil
}

// verifyDeath holds the log that the last dead process left against where it says that it died. What is not where it should be was
// not killed there.
func (t *Trial) verifyDeath(at *Place) {
	if at == nil || len(t.Kills) > 1 || t.end.Had > len(t.end.Log) {
		return // how many of a name the ones before have left is not known
	}
	n := 0
	for _, l := range t.end.Log[:t.end.Had] {
		if l.Kind == at.Kind && l.Step == at.Step {
			n++
		}
	}
	switch {
	case at.When == Before && n >= at.Nth:
		t.find("it died %s, and the entry is in the log", *at)
	case at.When == After && n < at.Nth:
		t.find("it died %s, and the entry is not in the log", *at)
	}
}

// judge holds a trial against the run that nobody disturbed.
func (r *run) judge(t *Trial) {
	t.count()
	base := r.base.came
	now := cameOf(t.end, t.Seen, r.loose)
	var more, less []string
	t.Repeated, more = surplus(now.effects, base.effects)
	t.Lost, less = surplus(base.effects, now.effects)
	for _, e := range more {
		t.find("repeated: %s (%d instead of %d)", e, now.effects[e], base.effects[e])
	}
	for _, e := range less {
		t.find("lost: %s (%d instead of %d)", e, now.effects[e], base.effects[e])
	}
	for _, path := range differences(base.outcome, now.outcome, "") {
		if !slices.Contains(r.free, path) {
			t.Differs = true
			t.find("it ends otherwise at %s: %s, without a death %s", path, valueAt(now.outcome, path), valueAt(base.outcome, path))
			break
		}
	}
	if t.end.Forgotten > 0 {
		t.find("%d entries that were in the log before the last process began are not what they were", t.end.Forgotten)
	}
	if t.Hidden > 0 {
		t.find("a model was paid twice, and the books do not say so: %d times", t.Hidden)
	}
	if t.Failed() {
		t.Log, t.Journal = t.end.Log, filepath.Join(t.dir, "journal.db")
	}
}

// count counts what does not need a comparison.
func (t *Trial) count() {
	for _, e := range t.Seen {
		if e.Acted {
			t.Acted++
		}
		if e.Replayed {
			t.Again++
		}
	}
	for _, l := range t.end.Log {
		if (l.Kind == journal.Result.String() || l.Kind == journal.Void.String()) && isLookup(l.By) {
			t.Found++
		}
	}
	t.Doubts = t.Found + t.Told
	said := map[string]int{}
	for _, k := range t.end.Twice {
		said[k]++
	}
	for key, n := range t.bills {
		t.Asked += n
		t.Twice += n - 1
		t.Hidden += max(0, n-1-said[key])
	}
}
