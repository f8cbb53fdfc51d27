//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// TestDocs holds every block of every page, by the conventions of CONTRIBUTING.md: a page is a subtest, TestDocs/operating. What a page
// shows of commands is what they print. With -update-pages the page becomes what they print.
func TestDocs(t *testing.T) {
	for _, needed := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("SKIPPED: the commands are written for a POSIX shell with curl, and there is no %s", needed)
		}
	}
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(build(t, ""))
	run, held, not := 0, 0, 0
	t.Cleanup(func() {
		t.Logf("of the blocks %d are run, %d are held by other tests, and %d are not run", run, held, not)
	})
	for _, p := range pages {
		var commands []docpage.Block
		for _, b := range p.Blocks {
			reason, left := strings.CutPrefix(b.Note, "not run:")
			switch {
			case left:
				not++
				t.Logf("not run: %s:%d:%s", p.File, b.Line, reason)
			case strings.HasPrefix(b.Note, "held by "):
				held++
			case b.Lang == "console" || b.Lang == "sh" || strings.HasPrefix(b.Note, "file "):
				run++
				commands = append(commands, b)
			default:
				held++
			}
		}
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			for _, wrong := range p.Wrong {
				t.Error(wrong)
			}
			text := p.Text
			for _, b := range p.Blocks {
				if file, ok := strings.CutPrefix(b.Note, "source "); ok && *updatePages {
					opening := "<!-- " + b.Note + " -->\n```" + b.Lang + "\n"
					text = strings.Replace(text, opening+b.Text, opening+sourceOf(t, file), 1)
				} else if wrong := judge(p, b); wrong != "" {
					t.Errorf("%s:%d: %s", p.File, b.Line, wrong)
				}
			}
			if len(commands) > 0 {
				text = showPage(t, bin, p, text, commands)
			}
			if *updatePages && text != p.Text {
				if err := os.WriteFile(filepath.Join("../..", filepath.FromSlash(p.File)), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// showPage runs the commands of a page, holds what they print against what it shows, and returns the page as it should be.
func showPage(t *testing.T, bin string, p docpage.Page, text string, commands []docpage.Block) string {
	t.Helper()
	v := newVisit(t, bin, p)
	for _, b := range commands {
		name, isFile := strings.CutPrefix(b.Note, "file ")
		switch {
		case isFile:
			v.write(name, b.Text)
		case b.Lang == "sh":
			v.must(b.Line, b.Text)
		default:
			was, is := v.console(b)
			text = strings.Replace(text, was, is, 1)
		}
	}
	return text
}

func sourceOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// visit is a user who types what a page shows.
type visit struct {
	*shell
	page      docpage.Page
	dir, home string
}

// newVisit gives a page a directory with what it needs, a configuration and a state of its own, and does its setup.
func newVisit(t *testing.T, bin string, p docpage.Page) *visit {
	t.Helper()
	v := &visit{page: p, dir: realDir(t), home: realDir(t)}
	if err := os.Mkdir(filepath.Join(v.dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "WRUN_CACHE="+wasmtest.CodeCache(t),
		"XDG_CONFIG_HOME="+filepath.Join(v.home, ".config"), "XDG_STATE_HOME="+filepath.Join(v.home, ".local", "state"),
		"GOENV=off", "WRUN_JOURNAL=", envModel+"=", envBaseURL+"=", envKey+"=", "NO_PROXY=127.0.0.1")
	for _, needs := range p.Said("needs") {
		for _, need := range strings.Fields(needs) {
			variable, err := provide(t, v.dir, need)
			if err != nil {
				t.Fatalf("%s needs %s: %v", p.File, need, err)
			}
			env = append(env, variable...)
		}
	}
	v.shell = startShell(t, v.dir, env)
	for _, setup := range p.Said("setup") {
		v.must(1, setup)
	}
	return v
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (v *visit) write(name, text string) {
	v.t.Helper()
	file := filepath.Join(v.dir, strings.TrimPrefix(name, "/"))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// types types a command. What a page has in /tmp is in a directory of its own.
func (v *visit) types(command string, strict bool) (string, int) {
	v.t.Helper()
	tmp := filepath.Join(v.dir, "tmp") + "/"
	out, code := v.run(strings.ReplaceAll(command, "/tmp/", tmp), strict)
	for _, d := range [][2]string{{tmp, "/tmp/"}, {v.dir + "/", ""}, {v.home, "~"}} {
		out = strings.ReplaceAll(out, d[0], d[1])
	}
	return tidy(out), code
}

// must does commands of which the page shows no output: each has to succeed.
func (v *visit) must(line int, commands string) {
	v.t.Helper()
	if out, code := v.types(commands, true); code != 0 {
		v.t.Fatalf("%s:%d: exit code %d of\n%s\n%s", v.page.File, line, code, commands, out)
	}
}

// console does the commands of a block, and returns it and what it should be.
func (v *visit) console(b docpage.Block) (was, is string) {
	v.t.Helper()
	var text strings.Builder
	for _, c := range typed(b.Text) {
		out, code := v.types(c.command, false)
		if squeezed(out) == squeezed(c.output) {
			out = c.output
		} else if !*updatePages {
			v.t.Errorf("%s:%d: $ %s\nprints\n%s\nand the page shows\n%s", v.page.File, b.Line, strings.TrimSpace(c.command), out, c.output)
		}
		text.WriteString(c.line + out)
		if code != 0 && out == "" {
			v.t.Errorf("%s:%d: $ %s\nends with %d and prints nothing", v.page.File, b.Line, c.command, code)
		}
	}
	return "```console\n" + b.Text + "```\n", "```console\n" + text.String() + "```\n"
}

// typing is a command with its output below.
type typing struct{ line, command, output string }

// typed takes a block apart: a command stands behind "$ ", and goes on in lines that begin with "> ", and behind a backslash.
func typed(text string) (all []typing) {
	open := false
	for line := range strings.Lines(text) {
		first, isFirst := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isFirst:
			all = append(all, typing{line: line, command: first})
			open = true
		case len(all) == 0:
			all = append(all, typing{line: line}) // which prints nothing
		case open && (isMore || strings.HasSuffix(all[len(all)-1].line, "\\\n")):
			c := &all[len(all)-1]
			if !isMore {
				more = line
			}
			c.line += line
			c.command += more
		default:
			all[len(all)-1].output += line
			open = false
		}
	}
	return all
}
