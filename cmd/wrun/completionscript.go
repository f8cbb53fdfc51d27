package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Write what makes a shell complete wrun's words",
		Long: `Write a script that makes a shell complete the words of wrun: verbs, flags, files, and out of the journal runs, the
steps of a run, and artifacts. A completion only looks: it makes no journal, brings none up to date, and
waits for no other process.`,
		Example: `  source <(wrun completion bash)         # in ~/.bashrc; needs the package bash-completion
  wrun completion zsh > "${fpath[1]}/_wrun"
  wrun completion fish > ~/.config/fish/completions/wrun.fish`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash": func(w io.Writer) error { return c.Root().GenBashCompletionV2(w, true) },
				"zsh":  c.Root().GenZshCompletion,
				"fish": func(w io.Writer) error { return c.Root().GenFishCompletion(w, true) },
			}[args[0]]
			if write == nil {
				return usage(c, "there is no completion for %.20q: say bash, zsh or fish", args[0])
			}
			var script bytes.Buffer
			if err := write(&script); err != nil {
				return fmt.Errorf("write the completion for %s: %w", args[0], err)
			}
			return a.write(script.Bytes())
		},
		ValidArgs: []cobra.Completion{"bash", "zsh", "fish"},
	}
}
