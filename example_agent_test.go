package wrun_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// An agent works on a task with tools. Its model answers by a script here; Protocol, Name and Key of another Model ask a real one.
func Example_agent() {
	ctx := context.Background()
	dir, done := place()
	defer done()

	connect := agent.Connect(hostfuncs.ReadSecret) // where keys are read when something is sent
	host, err := wrun.Open(ctx, wrun.Config{
		Journal: filepath.Join(dir, "journal.db"), Create: true, Cache: moduleCache(),
		Drivers: map[string]runtime.DriverInfo{agent.Name: agent.Driver(agent.Config{Connect: connect})},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()

	text, err := host.AddModule(textTool())
	if err != nil {
		log.Fatal(err)
	}
	adder := agent.Agent{
		Model: agent.Model{Protocol: agent.Scripted, Script: `
replies:
  - when: .results | length > 0
    say: "The sum is ${ .results[0].output.sum }."
  - call: text.sum
    with: { numbers: [40, 2] }
`},
		Instructions: "You add numbers with the tool.",
		Tools:        []string{"text.sum"},
		Limits:       agent.Limits{Steps: 5},
	}
	spec, err := adder.Spec("add 40 and 2", []runtime.Module{text}, hostfuncs.Grants{}, toolabi.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	res, err := host.Run(ctx, "sum-1", spec, runtime.DriveOptions{})
	fmt.Printf("%s %v\n", res.Output, err)

	// What it cost is in the journal, with everything else.
	books := agent.NewBookkeeper("sum-1", &adder, host.Body)
	for e, err := range host.Journal().Read(ctx, "sum-1", 0) {
		if err != nil {
			log.Fatal(err)
		}
		if e.Step != "" {
			fmt.Println(e.Kind, e.Step)
		}
		if err := books.Add(ctx, e); err != nil {
			log.Fatal(err)
		}
	}
	costs := books.Close(false) // nobody drives it any more
	fmt.Printf("%d answers paid, %d may have been paid twice\n", costs.Paid.Answers, len(costs.Twice))
	// Output:
	// "The sum is 42." <nil>
	// intent model[0]
	// result model[0]
	// intent call[0][0]
	// result call[0][0]
	// intent model[1]
	// result model[1]
	// 2 answers paid, 0 may have been paid twice
}
