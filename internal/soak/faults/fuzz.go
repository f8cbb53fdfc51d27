package faults

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// fuzzFor is how long each target is fuzzed in tier 2.
const fuzzFor = 5 * time.Minute

// fuzz fuzzes every target of the module, one after the other. It belongs to tier 2 alone.
func (t *tier) fuzz(ctx context.Context, row *Row) error {
	if t.Tier != 2 {
		return errSkip("tier 2 fuzzes every target for " + fuzzFor.String())
	}
	listed, err := exec.CommandContext(ctx, "go", "test", "-list", "^Fuzz", root+"...").Output()
	if err != nil {
		return fmt.Errorf("list what can be fuzzed: %w", err)
	}
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(listed))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 1 {
			names = append(names, fields[0])
			continue
		}
		if len(fields) < 2 || fields[0] != "ok" {
			continue // a package without tests
		}
		for _, name := range names {
			t.say("  %s of %s", name, fields[1])
			d := time.Duration(float64(fuzzFor) * t.Share)
			out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", d.String(), fields[1]).CombinedOutput()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var found []Violation
			if err != nil {
				found = []Violation{{"fuzz", fmt.Sprintf("%v\n%s", err, out)}}
			}
			row.add(name, 1, nil, found)
		}
		names = nil
	}
	return nil
}
