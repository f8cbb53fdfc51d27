package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// writeArtifact writes an artifact of a run to standard output, byte for byte, once it is known to be whole.
func (a *app) writeArtifact(c *cobra.Command, h *wrun.Host, run, digest string) error {
	d, ok := toolabi.ParseDigest(digest)
	if !ok {
		return usage(c, "%q is no digest: want 64 lower-case hexadecimal digits, as %s lists them", toolabi.CleanLine(digest, 80), a.cmd("show "+run))
	}
	if f, ok := a.out.(*os.File); ok && isTerminal(f) {
		return usage(c, "an artifact may hold anything, and is not written to a terminal: say %s --artifact %s > FILE", a.cmd("show "+run), d)
	}
	if a.filter.expr != nil {
		return usage(c, "--jq goes with lines of JSON, and an artifact is written byte for byte")
	}
	for _, to := range []io.Writer{io.Discard, output{a}} { // damage is known at the end, and nothing half is written
		if err := copyArtifact(c, h, run, d, to); err != nil {
			return err
		}
	}
	return nil
}

func copyArtifact(c *cobra.Command, h *wrun.Host, run string, d toolabi.Digest, to io.Writer) (err error) {
	r, n, err := h.OpenArtifact(c.Context(), run, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	got, err := io.Copy(to, r)
	if err == nil && got != n {
		err = fmt.Errorf("artifact %s changed while it was read", d)
	}
	return err
}

// output is standard output, whose errors have a code.
type output struct{ a *app }

func (o output) Write(b []byte) (int, error) {
	if err := o.a.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printArtifacts lists the artifacts of a run.
func (p *picture) printArtifacts(b *strings.Builder) {
	if len(p.artifacts) == 0 {
		return
	}
	b.WriteString("\n")
	rows := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, k := range p.artifacts {
		size := fmt.Sprintf("%d bytes", k.Size)
		if k.Missing {
			size = "missing"
		}
		fmt.Fprintf(rows, "artifact %s\t%s\t%s\t%s\n", k.Digest, size, k.Step, toolabi.CleanLine(k.Name, 300))
	}
	_ = rows.Flush() // a strings.Builder takes everything
}

// artifactLines are the artifacts of a run as --json shows them.
func artifactLines(artifacts []runtime.Artifact) []map[string]any {
	lines := []map[string]any{}
	for _, k := range artifacts {
		l := map[string]any{"digest": k.Digest.String(), "size": k.Size, "step": k.Step, "function": k.Function}
		if k.Name != "" {
			l["name"] = k.Name
		}
		if k.Missing {
			l["missing"] = true
		}
		lines = append(lines, l)
	}
	return lines
}
