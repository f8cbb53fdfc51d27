package tooltoml

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// reader takes values apart and collects what is wrong with them.
type reader struct {
	where places
	found []*Mistake
}

// take reads one value; path says which.
type take func(path string, v any)

func (r *reader) fail(path, format string, a ...any) {
	r.found = append(r.found, &Mistake{Line: r.where.line(path), Field: path, Message: fmt.Sprintf(format, a...)})
}

func (r *reader) manifest(doc map[string]any) *toolabi.Manifest {
	m := new(toolabi.Manifest)
	r.table("", doc, map[string]take{
		"name": r.text(&m.Name), "version": r.text(&m.Version), "description": r.text(&m.Description),
		"tools": r.list(func(path string, v any) {
			var t toolabi.Tool
			r.table(path, v, r.tool(&t))
			m.Tools = append(m.Tools, t)
		}),
		"capabilities": r.list(func(path string, v any) {
			var c toolabi.Capability
			r.table(path, v, map[string]take{"name": r.text(&c.Name), "reason": r.text(&c.Reason), "targets": r.texts(&c.Targets), "secrets": r.texts(&c.Secrets)})
			m.Capabilities = append(m.Capabilities, c)
		}),
		"limits": func(path string, v any) {
			l := &m.Limits
			r.table(path, v, map[string]take{
				"timeout": r.duration(&l.TimeoutMS), "memory_bytes": r.number(&l.MemoryBytes), "output_bytes": r.number(&l.OutputBytes), "fuel": r.number(&l.Fuel),
			})
		},
		"command": func(path string, v any) {
			m.Command = new(toolabi.Command)
			r.table(path, v, r.command(m.Command))
		},
	})
	return m
}

func (r *reader) tool(t *toolabi.Tool) map[string]take {
	return map[string]take{
		"name": r.text(&t.Name), "description": r.text(&t.Description), "input": r.schema(&t.Input), "output": r.schema(&t.Output),
		"idempotency": r.text((*string)(&t.Idempotency)), "key_ttl": r.duration(&t.KeyTTLMS), "lookup": r.text(&t.Lookup),
		"settle": r.duration(&t.SettleMS), "compensate": r.text(&t.Compensate), "destructive": r.truth(&t.Destructive),
		"approval": r.truth(&t.Approval), "timeout": r.duration(&t.TimeoutMS),
		"retry": func(path string, v any) {
			var attempts uint64
			r.table(path, v, map[string]take{
				"attempts": r.number(&attempts), "backoff": r.duration(&t.Retry.BackoffMS), "max_backoff": r.duration(&t.Retry.MaxBackoffMS),
			})
			if attempts > math.MaxUint32 {
				r.fail(path, "%d attempts: at most %d", attempts, uint32(math.MaxUint32))
			}
			t.Retry.Attempts = uint32(attempts)
		},
	}
}

func (r *reader) command(c *toolabi.Command) map[string]take {
	return map[string]take{
		"args": r.texts(&c.Args), "text": r.truth(&c.Text),
		"dirs": r.list(func(path string, v any) {
			var d toolabi.Dir
			r.table(path, v, map[string]take{"name": r.text(&d.Name), "path": r.text(&d.Path), "write": r.truth(&d.Write), "reason": r.text(&d.Reason)})
			c.Dirs = append(c.Dirs, d)
		}),
	}
}

// table reads a table of these fields and no others.
func (r *reader) table(path string, v any, fields map[string]take) {
	t, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "want a table, not %s", describe(v))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if read, ok := fields[name]; ok {
			read(join(path, name), t[name])
			continue
		}
		known := slices.Sorted(maps.Keys(fields))
		if suggestion := strictyaml.Suggest(name, known); suggestion != "" {
			r.fail(join(path, name), "there is no such field%s", suggestion)
		} else {
			r.fail(join(path, name), "there is no such field; there are %q", known)
		}
	}
}

func (r *reader) list(each take) take {
	return func(path string, v any) {
		l, ok := v.([]any)
		if !ok {
			r.fail(path, "want a list, not %s", describe(v))
			return
		}
		for i, v := range l {
			each(fmt.Sprintf("%s[%d]", path, i), v)
		}
	}
}

func (r *reader) text(to *string) take {
	return func(path string, v any) {
		s, ok := v.(string)
		if !ok {
			r.fail(path, "want a string, not %s", describe(v))
		}
		*to = s
	}
}

func (r *reader) texts(to *[]string) take {
	return r.list(func(path string, v any) {
		var s string
		r.text(&s)(path, v)
		*to = append(*to, s)
	})
}

func (r *reader) truth(to *bool) take {
	return func(path string, v any) {
		b, ok := v.(bool)
		if !ok {
			r.fail(path, "want true or false, not %s", describe(v))
		}
		*to = b
	}
}

func (r *reader) number(to *uint64) take {
	return func(path string, v any) {
		n, ok := v.(int64)
		if !ok || n < 0 {
			r.fail(path, "want a whole number that is not negative, not %s", describe(v))
			return
		}
		*to = uint64(n)
	}
}

// duration reads a time as milliseconds.
func (r *reader) duration(to *uint64) take {
	return func(path string, v any) {
		s, ok := v.(string)
		d, err := time.ParseDuration(s)
		switch {
		case !ok || err != nil:
			r.fail(path, `want a duration such as "30s", "1h30m" or "250ms", not %s`, describe(v))
		case d < 0 || d%time.Millisecond != 0:
			r.fail(path, "want whole milliseconds that are not negative, not %s", describe(v))
		default:
			*to = uint64(d.Milliseconds())
		}
	}
}

// describe says what a value is, for the end of a sentence.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.40q", v)
	case bool:
		return fmt.Sprint(v)
	case int64, float64:
		return fmt.Sprintf("the number %v", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time"
}
