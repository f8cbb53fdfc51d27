package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
)

// manyPlaces is how many places are visited when nobody says how many.
const manyPlaces = 400

// crashtestArgs are what crashtest is told beside what run it is of.
type crashtestArgs struct {
	crashtestFlags
	world, script, boundaries string
	second, only, workers     int
	seed                      uint64
}

func newCrashtest(a *app) *cobra.Command {
	var f crashtestArgs
	c := &cobra.Command{
		Use:   "crashtest PLAN.yaml|AGENT.yaml [TASK] --world FILE",
		Short: "Kill a whole run at every place, resume it, and count what happened twice or never",
		Long: `Kill a whole run at every place where a process can die: before and after each append to its
journal, and when an effect has taken place that is not recorded yet. Each time a process gets
SIGKILL there, another one goes on with nothing but the journal, and what came of it is held
against a run that nobody disturbed: what the world was made to do, what the run returned, what
a model was paid for.

The world is played by this command on loopback, from FILE: "wrun_test: 1", and below "world"
what answers to what. Nothing leaves the machine. A model answers by the script that the agent's
file names, or --script. Modules are granted what their manifests ask for, unless flags grant.
Questions are answered by the world's approvals, effects of unknown outcome are settled by what
the world knows, and waits are jumped over. docs/crashtest.md describes the method and the file.`,
		Example: `  wrun crashtest invoice.yaml --world world.yaml --input '{"number":7}'
  wrun crashtest cashier.yaml 'take 42.00 from ada' --world world.yaml --only 17`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error { return a.crashtest(c, args, &f) },
	}
	c.Flags().StringVar(&f.world, "world", "", "the `FILE` with the world (mandatory)")
	c.Flags().StringVar(&f.script, "script", "", "the `FILE` with what an agent's model says (default the one that the agent's file names)")
	c.Flags().StringVar(&f.boundaries, "boundaries", "", fmt.Sprintf("how many places to kill at, by chance: `N`, or all (default all, up to %d)", manyPlaces))
	c.Flags().IntVar(&f.second, "second", 10, "kill a second time, while the run is resumed, in so many more trials: `N`")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "what chance wants: a `NUMBER`")
	c.Flags().IntVar(&f.only, "only", 0, "make the one trial of this `NUMBER`, with the other flags as they were")
	c.Flags().IntVarP(&f.workers, "jobs", "j", runtime.NumCPU(), "how many trials go on at once: `N`")
	f.add(c)
	return c
}

func (a *app) crashtest(c *cobra.Command, args []string, f *crashtestArgs) (err error) {
	cfg, err := f.config(c)
	if err != nil {
		return err
	}
	if cfg.World, err = readWorld(f.world); err != nil {
		return err
	}
	s, err := a.crashtestSubject(c, args, &f.crashtestFlags, scriptedModel)
	if err != nil {
		return err
	}
	cfg.Mail = s.grants.Mail
	if s.agent != nil {
		if cfg.Script, err = modelScript(args[0], f.script); err != nil {
			return err
		}
	}
	if cfg.Dir, err = os.MkdirTemp("", "wrun-crashtest-"); err != nil {
		return fileError(err)
	}
	kept := false
	defer func() {
		if !kept {
			err = errors.Join(err, os.RemoveAll(cfg.Dir))
		}
	}()
	if cfg.Child, err = f.child(s, args, cfg.Dir); err != nil {
		return err
	}
	told, done := meter(a, func(n [2]int) string {
		return bar(int64(n[0]), int64(n[1])) + fmt.Sprintf("%d of %d trials", n[0], n[1])
	})
	if told != nil {
		cfg.Progress = func(n, of int) { told([2]int{n, of}) }
	}
	rep, err := crashtest.Test(c.Context(), cfg)
	done()
	switch {
	case errors.Is(err, crashtest.ErrUndisturbed):
		return &codedError{codeInput, err}
	case errors.Is(err, crashtest.ErrNoTrial):
		return usage(c, "--only: %v", err)
	case c.Context().Err() != nil:
		return context.Cause(c.Context())
	case err != nil:
		return err
	}
	kept = len(rep.Failed()) > 0
	return a.crashtestReport(rep, f.again(args))
}

// config is what the flags say.
func (f *crashtestArgs) config(c *cobra.Command) (cfg crashtest.Config, err error) {
	cfg = crashtest.Config{Places: manyPlaces, Second: f.second, Seed: f.seed, Only: f.only, Workers: f.workers}
	switch _, err := fmt.Sscanf(f.boundaries, "%d", &cfg.Places); {
	case f.world == "":
		return cfg, usage(c, "say --world FILE: what answers to the run")
	case f.boundaries == "":
		cfg.Places = manyPlaces
	case f.boundaries == "all":
		cfg.Places = 0
	case err != nil || cfg.Places <= 0 || fmt.Sprint(cfg.Places) != f.boundaries:
		return cfg, usage(c, "--boundaries: want all, or a number from 1")
	}
	if f.second < 0 || f.only < 0 || f.workers < 1 {
		return cfg, usage(c, "--second and --only want a number from 0, -j one from 1")
	}
	return cfg, nil
}

// readWorld reads the file with the world. What it names lies beside it, or below.
func readWorld(path string) (*world.World, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	w, err := crashtest.ParseWorld(text, filesBeside(path))
	if err != nil {
		return nil, &codedError{codeCases, fmt.Errorf("%s: %w", path, err)}
	}
	return w, nil
}

// scriptedModel puts the model of crashtest in the place of the one of an agent's file.
func scriptedModel(m *agent.Model) error {
	m.SetModel(modelOfTests)
	return nil
}

// modelOfTests is the model that crashtest serves.
const modelOfTests = agent.OpenAI + "/scripted"

// modelScript reads what the model of an agent says.
func modelScript(agentFile, file string) (*script.Script, error) {
	if file != "" {
		return readScript(file)
	}
	text, err := readFile(agentFile)
	if err != nil {
		return nil, err
	}
	of, err := agent.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agentFile, err)
	}
	if of.Script == "" {
		return nil, &codedError{codeModelChoice, fmt.Errorf("%s names no script; say --script FILE: what the model answers", agentFile)}
	}
	root, err := os.OpenRoot(filepath.Dir(agentFile))
	if err != nil {
		return nil, fileError(err)
	}
	defer root.Close()
	said, err := scriptBeside(root, agentFile, of.Script)
	if err != nil {
		return nil, err
	}
	return script.Parse([]byte(said))
}

// child starts this program again. What was read from standard input is in files of dir.
func (f *crashtestArgs) child(s *crashtestSubject, args []string, dir string) (crashtest.Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input := filepath.Join(dir, "input")
	if err := writeFile(input, s.input); err != nil {
		return nil, err
	}
	argv := []string{self, crashtestChild, args[0]}
	if s.agent != nil {
		argv = append(argv, "@"+input)
	} else {
		argv = append(argv, "--input", "@"+input)
	}
	for _, w := range f.grants.given {
		argv = append(argv, "--"+w.Flag+"="+w.Value)
	}
	if s.limits.Fuel > 0 {
		argv = append(argv, fmt.Sprintf("--fuel=%d", s.limits.Fuel))
	}
	return crashtest.Command{Argv: argv, Env: func(job crashtest.Job) []string {
		return []string{envModel + "=" + modelOfTests, envBaseURL + "=" + job.Model + "/v1", envKey + "="}
	}}, nil
}

// again is the command that makes one trial again, but for its number.
func (f *crashtestArgs) again(args []string) string {
	words := []string{"crashtest"}
	for _, arg := range args {
		words = append(words, quoted(arg))
	}
	for _, w := range []struct{ flag, value, usual string }{
		{"world", f.world, ""}, {"input", f.input, "{}"}, {"script", f.script, ""}, {"boundaries", f.boundaries, ""},
		{"second", fmt.Sprint(f.second), "10"}, {"seed", fmt.Sprint(f.seed), "1"}, {"fuel", fmt.Sprint(f.limits.fuel), "0"},
	} {
		if w.value != w.usual {
			words = append(words, "--"+w.flag+" "+quoted(w.value))
		}
	}
	return strings.Join(words, " ") + f.grants.text() + " --only "
}
