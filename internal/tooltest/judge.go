package tooltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// Judge says in what an end, and what it left behind, is not what the case expects. Values of secrets are taken out of what it says.
func (s *Stage) Judge(ctx context.Context, store journaltest.Store, end End) ([]string, error) {
	j := &judge{Stage: s, want: s.Case.Expect}
	j.end(end)
	j.strict()
	j.acted()
	if err := j.stores(ctx, store); err != nil {
		return nil, err
	}
	if err := j.files(); err != nil {
		return nil, err
	}
	j.mail()
	j.said()
	for i, text := range j.failures {
		j.failures[i] = s.Live.Hide(text)
	}
	return j.failures, nil
}

type judge struct {
	*Stage
	want     toolcase.Expect
	failures []string
}

func (j *judge) fail(format string, args ...any) {
	j.failures = append(j.failures, fmt.Sprintf(format, args...))
}

// differs adds what was expected of something, and what came.
func (j *judge) differs(what, want, got string) { j.fail("%s\n%s", what, compared(want, got)) }

// words says how a call ended.
func (e End) words() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("error %s: %s", e.Err.Code, e.Err.Message)
	case e.Uncertain != nil:
		return "an effect of unknown outcome: " + e.Uncertain.Error()
	case e.Waits != nil:
		return "it waits: " + e.Waits.Error()
	}
	return "output " + string(e.Output)
}

// end judges how the call ended.
func (j *judge) end(e End) {
	succeeded := e.Err == nil && e.Uncertain == nil && e.Waits == nil
	switch want := j.want.Error; {
	case want != nil:
		text := "error"
		if want.Code != 0 {
			text += " " + want.Code.String()
		}
		if want.Message != "" {
			text += ": …" + want.Message + "…"
		}
		if e.Err == nil || want.Code != 0 && e.Err.Code != want.Code || !strings.Contains(e.Err.Message, want.Message) {
			j.differs("end of the call", text, e.words())
		}
	case j.want.Uncertain:
		if e.Uncertain == nil {
			j.differs("end of the call", "an effect of unknown outcome", e.words())
		}
	case !succeeded:
		j.differs("end of the call", "an output", e.words())
	case j.want.HasOutput || len(j.want.Where) > 0:
		j.output(e.Output)
	}
}

// maxNumber is how long a number in an output may be, in digits.
const maxNumber = 400

func (j *judge) output(text []byte) {
	v, err := jq.Decode(text, maxNumber)
	if err != nil {
		j.fail("output: it is no JSON: %v\ngot  %s", err, text)
		return
	}
	if j.want.HasOutput && !jq.Equal(v, j.want.Output) {
		what := "output"
		if at := differsAt(j.want.Output, v); at != "" {
			what += ", which differs at " + at
		}
		j.differs(what, world.ShowJSON(j.want.Output), world.ShowJSON(v))
	}
	for _, c := range j.want.Where {
		switch ok, err := c.Holds(v); {
		case err != nil:
			j.fail("output: %v\ngot  %s", err, world.ShowJSON(v))
		case !ok:
			j.differs("output", "that "+c.Text, world.ShowJSON(v))
		}
	}
}

// differsAt is the path of the first value in which b is not a, "" for the value as a whole.
func differsAt(a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return ""
		}
		for _, k := range slices.Sorted(maps.Keys(a)) {
			v, there := other[k]
			if !there {
				return "." + k + ", which is not there"
			}
			if !jq.Equal(a[k], v) {
				return "." + k + differsAt(a[k], v)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(other)) {
			if _, there := a[k]; !there {
				return "." + k + ", which is not expected"
			}
		}
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return ""
		}
		for i := range a {
			if !jq.Equal(a[i], other[i]) {
				return "[" + strconv.Itoa(i) + "]" + differsAt(a[i], other[i])
			}
		}
	}
	return ""
}

// strict judges what the world does not have, and routes that were of no use.
func (j *judge) strict() {
	for _, e := range j.Live.Unexpected() {
		switch {
		case e.Contradicted:
			j.fail("%s %s: the idempotency key was used before for another request\nbody %s", e.Method, e.URL, e.Body)
		case e.Kind == world.KindMail:
			j.fail("a mail to %s: %s; say mail: [accept]", strings.Join(e.Message.To, ", "), e.Why)
		default:
			j.fail("unexpected request: %s %s\n%s", e.Method, e.URL, e.Why)
		}
	}
	j.mu.Lock()
	j.failures = append(j.failures, j.unexpected...)
	j.mu.Unlock()
	for _, r := range j.world.HTTP {
		if !r.Shared && !r.Optional && j.Live.Answered(r.Name) == 0 {
			j.fail("route %q was never used; say optional: true if that is fine", r.Name)
		}
	}
}

func (j *judge) acted() {
	for _, name := range slices.Sorted(maps.Keys(j.want.Acted)) {
		if _, ok := j.world.Route(name); !ok {
			j.fail("acted: there is no route of the name %q", name)
			continue
		}
		if want, got := j.want.Acted[name], j.Live.Acted(name); want != got {
			j.differs("acted: "+name, times(want), times(got))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// nothing stands for what is not there.
const nothing = "nothing"

func (j *judge) stores(ctx context.Context, store journaltest.Store) error {
	for _, name := range slices.Sorted(maps.Keys(j.want.KV)) {
		for _, key := range slices.Sorted(maps.Keys(j.want.KV[name])) {
			got, _, err := store.Get(ctx, storeSpace(name), key)
			missing := errors.Is(err, journal.ErrNotFound)
			if err != nil && !missing {
				return err
			}
			want := j.want.KV[name][key]
			what := fmt.Sprintf("kv: %s %s", name, key)
			switch {
			case want == nil && !missing:
				j.differs(what, nothing, string(got))
			case want != nil && missing:
				j.differs(what, string(want.Raw()), nothing)
			case want != nil && !want.Is(got):
				j.differs(what, string(want.Raw()), string(got))
			}
		}
	}
	return nil
}

func (j *judge) files() error {
	for _, path := range slices.Sorted(maps.Keys(j.want.Files)) {
		got, err := os.ReadFile(filepath.Join(j.workspace(), filepath.FromSlash(path)))
		missing := os.IsNotExist(err)
		if err != nil && !missing {
			return err
		}
		want := j.want.Files[path]
		what := "file " + path
		switch {
		case want == nil && !missing:
			j.differs(what, nothing, strconv.Quote(string(got)))
		case want != nil && missing:
			j.differs(what, strconv.Quote(*want), nothing)
		case want != nil && *want != string(got):
			j.differs(what, strconv.Quote(*want), strconv.Quote(string(got)))
		}
	}
	return nil
}

// mail judges the messages that were taken over.
func (j *judge) mail() {
	if !j.want.HasMail {
		return
	}
	var taken []*world.Message
	for _, e := range j.Live.Seen() {
		if e.Kind == world.KindMail && e.Acted {
			taken = append(taken, e.Message)
		}
	}
	if len(taken) != len(j.want.Mail) {
		j.differs("mail that was taken over", fmt.Sprintf("%d messages", len(j.want.Mail)), fmt.Sprintf("%d messages", len(taken)))
		return
	}
	for i, want := range j.want.Mail {
		got := taken[i]
		what := fmt.Sprintf("mail %d: ", i+1)
		if want.To != nil && !slices.Equal(want.To, got.To) {
			j.differs(what+"to", strings.Join(want.To, ", "), strings.Join(got.To, ", "))
		}
		for _, part := range []struct {
			name string
			want *string
			got  string
		}{{"subject", want.Subject, got.Subject}, {"text", want.Text, got.Text}, {"html", want.HTML, got.HTML}} {
			if part.want != nil && strings.TrimSuffix(*part.want, "\n") != strings.TrimSuffix(part.got, "\n") { // on the way a text always ends with one
				j.differs(what+part.name, strconv.Quote(*part.want), strconv.Quote(part.got))
			}
		}
	}
}

// said judges the lines that the tool wrote.
func (j *judge) said() {
	j.mu.Lock()
	logs := slices.Clone(j.logs)
	j.mu.Unlock()
	for _, part := range j.want.Logs {
		if !slices.ContainsFunc(logs, func(line string) bool { return strings.Contains(line, part) }) {
			got := nothing
			if len(logs) > 0 {
				got = strings.Join(logs, "\n          ")
			}
			j.differs("log", "a line with …"+part+"…", got)
		}
	}
}
