package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Config says how runs of agents reach their models.
type Config struct {
	// Connect makes the client for a model, once each time that a run is driven. An error of it leaves the run resumable.
	// It decides where the key comes from, and whether it is still the model that the operator means.
	Connect func(ctx context.Context, m Model) (model.Client, error)
}

// Driver returns the driver of runs that Spec makes. The output of a run is the model's last answer, a JSON string.
//
// A run fails when the model's last answer was cut off, when its answers cannot be read, when it repeats a call that fails, and
// when it cannot be asked. One that has reached a limit stops with a *runtime.BudgetError and goes on with a higher one.
func Driver(cfg Config) runtime.DriverInfo {
	return runtime.DriverInfo{Version: Version, Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		l, err := newLoop(ctx, cfg, r)
		if err != nil {
			return nil, err
		}
		return l.run(ctx)
	}}
}

// loop is an agent's run while it is driven. What it knows is derived from the run's steps, in their order.
type loop struct {
	r       *runtime.Run
	agent   *Agent
	client  model.Client
	tools   []*offered
	told    []model.Tool
	byName  map[string]*offered
	judge   *judge
	talk    *conversation
	repeats *repeats
	spent   spent
}

func newLoop(ctx context.Context, cfg Config, r *runtime.Run) (*loop, error) {
	// Whoever began the run could read all of this: where this program cannot, it is older. That must not close the run.
	foreign := func(err error) error { return &runtime.DivergedError{Run: r.ID(), What: err.Error()} }
	a, err := Unpin(r.Plan())
	if err != nil {
		return nil, foreign(err)
	}
	tools, err := offer(a.Tools, r.Modules())
	if err != nil {
		return nil, foreign(err)
	}
	j, err := newJudge(r.ID(), a.Rules)
	if err != nil {
		return nil, foreign(err)
	}
	var task string
	if err := json.Unmarshal(r.Input(), &task); err != nil {
		return nil, foreign(fmt.Errorf("the task of the run cannot be read: %w", err))
	}
	if cfg.Connect == nil {
		return nil, runtime.Unable(errors.New("drive an agent: Config.Connect is missing"))
	}
	client, err := cfg.Connect(ctx, a.Model)
	if err != nil {
		return nil, runtime.Unable(fmt.Errorf("reach the model of run %s: %w", r.ID(), err))
	}
	l := &loop{
		r: r, agent: a, client: client, tools: tools, told: told(tools), byName: map[string]*offered{}, judge: j,
		talk: newConversation(task, a.Context), repeats: newRepeats(or(a.Limits.Repeats, DefaultRepeats)),
	}
	for _, o := range tools {
		l.byName[o.name] = o
	}
	return l, nil
}

// run asks and acts in turns until the model is done.
func (l *loop) run(ctx context.Context) ([]byte, error) {
	for turn := 0; ; turn++ {
		answer, err := l.ask(ctx, turn)
		if err != nil {
			return nil, err
		}
		said, err := l.client.Read(*answer)
		if err != nil {
			return nil, failed("answer", fmt.Sprintf("answer %d of the model cannot be read: %v", turn, err))
		}
		if len(said.Calls) == 0 {
			return final(turn, answer.Stop, said)
		}
		results, err := l.act(ctx, turn, said)
		if err != nil {
			return nil, err
		}
		l.talk.add(answer, results)
	}
}

// final is the output of a run whose model is done.
func final(turn int, stop string, said model.Said) ([]byte, error) {
	if said.Cut {
		return nil, failed("cut", fmt.Sprintf("the model's answer %d was cut off (%s); a higher max_tokens lets it end where that was its limit of tokens", turn, toolabi.CleanLine(stop, 50)))
	}
	return encodeText(said.Text)
}

func failed(detail, message string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Failed, message)
	e.Detail = detail
	return e
}

// askStep names the step of the model's answer in a turn, callStep that of a call that the answer asks for.
func askStep(turn int) journal.Step     { return journal.Step(fmt.Sprintf("model[%d]", turn)) }
func callStep(turn, n int) journal.Step { return journal.Step(fmt.Sprintf("call[%d][%d]", turn, n)) }
