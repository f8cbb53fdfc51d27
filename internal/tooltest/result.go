package tooltest

import (
	"context"
	"time"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/toolabi"
)

// Result is what came of a case.
type Result struct {
	Case string `json:"case"`
	Tool string `json:"tool"`
	// Failures say what is not as expected, each in one line or several; none means that the case passed.
	Failures []string `json:"failures,omitempty"`
	// Output is what came out, Err how the call failed.
	Output string         `json:"output,omitempty"`
	Err    *toolabi.Error `json:"error,omitempty"`
	// Calls is how many uses the tool made of host functions.
	Calls int `json:"calls"`
	// Seen is what the world saw.
	Seen []world.Event `json:"seen,omitempty"`
	Logs []string      `json:"logs,omitempty"`
	// Duration is how long it took.
	Duration time.Duration `json:"-"`

	uses []Use
}

// Passed says that everything was as expected.
func (r Result) Passed() bool { return len(r.Failures) == 0 }

// Run plays a case and holds what comes of it against what is expected; and again, with other randomness and at another time, to see
// whether the tool keeps what it declares. An error is a fault of the host.
func (b *Bench) Run(ctx context.Context, f *toolcase.File, c *toolcase.Case) (res Result, err error) {
	began := time.Now()
	defer func() { res.Duration = time.Since(began) }()
	res = Result{Case: c.Name, Tool: c.Tool}
	if _, ok := b.module.Manifest.Tool(c.Tool); !ok {
		res.Failures = []string{"the module has no tool " + c.Tool}
		return res, nil
	}
	first, err := b.perform(ctx, f, c, Setting{}, func(ctx context.Context, s *Stage, store journaltest.Store, end End) error {
		var err error
		res.Failures, err = s.Judge(ctx, store, end)
		res.Seen, res.Logs, res.uses, res.Calls = s.Live.Seen(), s.logs, s.uses, len(s.uses)
		res.Output, res.Err = s.Live.Hide(string(end.Output)), end.Err
		return err
	})
	if err != nil {
		return res, err
	}
	again, err := b.again(ctx, f, c, first)
	res.Failures = append(res.Failures, again...)
	return res, err
}

// performance is one performance of a case.
type performance struct {
	output  string
	failed  string
	limited bool // it reached a limit, which depends on the machine
	marks   marks
}

// perform plays a case on a journal of its own.
func (b *Bench) perform(
	ctx context.Context, f *toolcase.File, c *toolcase.Case, set Setting, judge func(context.Context, *Stage, journaltest.Store, End) error,
) (p performance, err error) {
	s, err := b.Stage(f, c, set)
	if err != nil {
		return p, err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	store := journaltest.NewMem()
	if err := s.Prepare(ctx, store.Handle()); err != nil {
		return p, err
	}
	end, err := s.Drive(ctx, store)
	if err != nil {
		return p, err
	}
	p.output = string(end.Output)
	if end.Err != nil {
		p.failed, p.limited = end.Err.Error(), end.Err.Code.IsLimit()
	}
	if p.marks, err = s.marks(ctx, store, end); err != nil {
		return p, err
	}
	if judge != nil {
		err = judge(ctx, s, store, end)
	}
	return p, err
}
