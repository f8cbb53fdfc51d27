package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

const isolatedTest = "WRUN_TEST_ISOLATED"

// isolated runs the test that calls it in a process of its own, so that a crash of the process is a failure of the test. It
// returns true there, and false in the first process, where the test is over then.
func isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(isolatedTest) == t.Name() {
		return true
	}
	limit := 5 * time.Minute
	if d, ok := t.Deadline(); ok {
		limit = time.Until(d) - time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), isolatedTest+"="+t.Name())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("the process that ran it: %v\n%s", err, firstLines(said.String(), 60))
	}
	t.Logf("%s", said.Bytes())
	return false
}
