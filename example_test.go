package wrun_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// greet is a driver: it decides what a run does next. It may be called again from its beginning, by another process
// too; what it asked for before is then answered from the journal.
func greet(ctx context.Context, r *runtime.Run) ([]byte, error) {
	sum, err := r.Call(ctx, "add", "text.sum", []byte(`{"numbers":[40,2]}`))
	if err != nil {
		return nil, err
	}
	return r.Call(ctx, "greet", "text.render", fmt.Appendf(nil, `{"template":"the answer is {{.sum}}","data":%s}`, sum))
}

// A run that is driven by a Go function, with tools of a module.
func Example() {
	ctx := context.Background()
	dir, done := place()
	defer done()

	host, err := wrun.Open(ctx, wrun.Config{
		Journal: filepath.Join(dir, "journal.db"), Create: true, Cache: moduleCache(),
		Drivers: map[string]runtime.DriverInfo{"greet": {Version: "1", Drive: greet}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()

	text, err := host.AddModule(textTool())
	if err != nil {
		log.Fatal(err)
	}
	spec := runtime.Spec{Driver: "greet", Version: "1", Modules: []runtime.Module{text}}
	res, err := host.Run(ctx, "hello-1", spec, runtime.DriveOptions{})
	fmt.Printf("%s %v, module entered %d times\n", res.Output, err, res.Counts.Entered)

	// The run is in the journal now. The same again executes nothing.
	res, err = host.Run(ctx, "hello-1", spec, runtime.DriveOptions{})
	fmt.Printf("%s %v, module entered %d times\n", res.Output, err, res.Counts.Entered)
	// Output:
	// {"text":"the answer is 42"} <nil>, module entered 2 times
	// {"text":"the answer is 42"} <nil>, module entered 0 times
}

// A process that ends in the middle leaves a run that the next one goes on with, by its id alone: the journal has the
// module too.
func ExampleHost_Resume() {
	ctx := context.Background()
	dir, done := place()
	defer done()
	drivers := map[string]runtime.DriverInfo{"greet": {Version: "1", Drive: greet}}
	config := wrun.Config{Journal: filepath.Join(dir, "journal.db"), Create: true, Cache: moduleCache(), Drivers: drivers}

	host, err := wrun.Open(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	text, err := host.AddModule(textTool())
	if err != nil {
		log.Fatal(err)
	}
	spec := runtime.Spec{Driver: "greet", Version: "1", Modules: []runtime.Module{text}}
	ctx, stop := context.WithCancel(ctx)
	half := runtime.DriverInfo{Version: "1", Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if _, err := r.Call(ctx, "add", "text.sum", []byte(`{"numbers":[40,2]}`)); err != nil {
			return nil, err
		}
		stop() // as a signal would
		return greet(ctx, r)
	}}
	_, err = host.Run(ctx, "hello-1", spec, runtime.DriveOptions{Driver: &half})
	fmt.Println("first process:", err)
	host.Close()

	ctx = context.Background()
	if host, err = wrun.Open(ctx, config); err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	res, err := host.Resume(ctx, "hello-1")
	fmt.Printf("second process: %s %v, %d step served, module entered %d times\n", res.Output, err, res.Counts.Served, res.Counts.Entered)
	// Output:
	// first process: interrupted: context canceled
	// second process: {"text":"the answer is 42"} <nil>, 1 step served, module entered 1 times
}

// Watch yields what happens to a run, whichever process drives it, and ends with the run.
func ExampleHost_Watch() {
	ctx := context.Background()
	dir, done := place()
	defer done()

	host, err := wrun.Open(ctx, wrun.Config{
		Journal: filepath.Join(dir, "journal.db"), Create: true, Cache: moduleCache(),
		Drivers: map[string]runtime.DriverInfo{"greet": {Version: "1", Drive: greet}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()
	text, err := host.AddModule(textTool())
	if err != nil {
		log.Fatal(err)
	}
	spec := runtime.Spec{Driver: "greet", Version: "1", Modules: []runtime.Module{text}}
	if _, err := host.Start(ctx, "hello-1", spec); err != nil {
		log.Fatal(err)
	}
	driven := make(chan error)
	go func() {
		_, err := host.Resume(ctx, "hello-1")
		driven <- err
	}()
	for entry, err := range host.Watch(ctx, "hello-1") {
		if err != nil {
			log.Fatal(err)
		}
		if entry.Kind == journal.Result {
			fmt.Println(entry.Step, entry.Outcome)
		}
	}
	fmt.Println(<-driven)
	// Output:
	// add ok
	// greet ok
	// <nil>
}

// place makes a directory for an example.
func place() (dir string, done func()) {
	dir, err := os.MkdirTemp("", "wrun-example-")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// exampleTB stands for the test that an example does not have.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()                           {}
func (exampleTB) Fatal(args ...any)                 { log.Fatal(args...) }
func (exampleTB) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func textTool() []byte    { return wasmtest.Tool(exampleTB{}, "tools/text") }
func moduleCache() string { return wasmtest.CodeCache(exampleTB{}) }
