package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// Programs are the programs of trials.
type Programs struct {
	// Wrun is the program, Oracle counts effects, Writer appends to a journal and does nothing else.
	Wrun, Oracle, Writer string
}

const root = "github.com/wrun-dev/wrun/"

// MakePrograms builds them into a directory, with build tags. It has to be called from inside of the module.
func MakePrograms(ctx context.Context, dir, tags string) (Programs, error) {
	p := Programs{Wrun: filepath.Join(dir, "wrun"), Oracle: filepath.Join(dir, "oracle"), Writer: filepath.Join(dir, "writer")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return p, err
	}
	for path, pkg := range map[string]string{p.Wrun: "cmd/wrun", p.Oracle: "internal/soak/faults/oracle", p.Writer: "internal/soak/faults/writer"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", path, root+pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return p, nil
}

// bench is where one worker makes its trials, one after the other: an oracle, and the modules that send to it.
type bench struct {
	Programs
	dir    string // modules and plans
	cache  string
	oracle *oracle
	env    []string
	whole  time.Duration // how long a run takes that nobody disturbs
}

// openBench makes one in an empty directory.
func openBench(p Programs, dir, cache string) (*bench, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	o, err := startOracle(p.Oracle, filepath.Join(dir, "oracle.jsonl"))
	if err != nil {
		return nil, err
	}
	b := &bench{Programs: p, dir: dir, cache: cache, oracle: o, env: []string{"WRUN_CANARY=" + canary, "XDG_CONFIG_HOME=" + filepath.Join(dir, "none")}}
	for name, content := range modules(o.url) {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	for name, classes := range plans {
		err = errors.Join(err, os.WriteFile(b.plan(name), []byte(planText(classes)), 0o600))
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return b, nil
}

func (b *bench) close() error { return b.oracle.close() }

func (b *bench) plan(name string) string { return filepath.Join(b.dir, name+".yaml") }

func (b *bench) program(journal string) trials.Program {
	return trials.Program{Wrun: b.Wrun, Journal: journal, Cache: b.cache, Env: b.env}
}

// plans are the classes of the steps of every plan, by its name.
var plans = map[string][]string{
	classOnce:  {classOnce, classOnce},
	classKeyed: {classKeyed, classKeyed},
	classRead:  {classRead, classRead},
	classKeep:  {classKeep, classKeep},
	"mixed":    {classOnce, classKeyed, classKeep, classRead, classOnce, classKeyed},
}

func planText(classes []string) string {
	var b strings.Builder
	b.WriteString("name: faults\ntools: { payer: payer.wasm, reader: reader.wasm, keeper: keeper.wasm }\nsteps:\n")
	for i, class := range classes {
		fmt.Fprintf(&b, "  - id: s%d\n    tool: %s\n", i+1, tools[class])
		fmt.Fprintf(&b, "    with: { account: acme, amount_cents: %d, reference: \"${ .input.run }-s%d\" }\n", 100+i, i+1)
	}
	fmt.Fprintf(&b, "output: { last: \"${ .s%d.reference }\" }\n", len(classes))
	return b.String()
}
