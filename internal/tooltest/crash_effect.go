package tooltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// effect is something that a call does in the world when nobody disturbs it.
type effect struct {
	kind, route, method string
	url, body           pattern
	sets                bool // doing it again changes nothing
	times               int  // how often the call does it
	first               world.Event
}

// effectsOf are the effects of a call, from two calls that nobody disturbed. Where the second did other things than the first,
// only what the first did is known, and not what of it varies.
func effectsOf(w *world.World, a, b *trial) []effect {
	first, second := a.acted(), b.acted()
	alike := len(first) == len(second)
	for i := range first {
		alike = alike && first[i].Route == second[i].Route && first[i].Kind == second[i].Kind
	}
	var all []effect
	for i, e := range first {
		other := e
		if alike {
			other = second[i]
		}
		all = addEffect(all, effect{
			kind: e.Kind, route: e.Route, method: e.Method, url: common(e.URL, other.URL), body: common(bodyOf(e), bodyOf(other)),
			sets: sets(w, e), times: 1, first: e,
		})
	}
	return all
}

// addEffect counts effects of which neither can be told from the other.
func addEffect(all []effect, e effect) []effect {
	i := slices.IndexFunc(all, func(k effect) bool { return k.is(e.first) && e.is(k.first) })
	if i < 0 {
		return append(all, e)
	}
	all[i].times++
	return all
}

// sets says whether doing again what was seen changes nothing.
func sets(w *world.World, e world.Event) bool {
	r, ok := w.Route(e.Route)
	return e.Kind == world.KindHTTP && ok && r.Sets
}

// is says whether it is this effect that the world saw.
func (f effect) is(e world.Event) bool {
	return f.kind == e.Kind && f.route == e.Route && f.method == e.Method && f.url.fits(e.URL) && f.body.fits(bodyOf(e))
}

// bodyOf is what a request, or a message, says.
func bodyOf(e world.Event) string {
	if e.Message == nil {
		return e.Body
	}
	text, err := json.Marshal(e.Message)
	if err != nil {
		return fmt.Sprint(*e.Message)
	}
	return string(text)
}

// done is how often a trial did each effect, under which keys, and what it did besides.
type done struct {
	times  []int
	keys   []map[string]bool
	last   []world.Event
	others []world.Event
}

func countEffects(effects []effect, events []world.Event) done {
	d := done{times: make([]int, len(effects)), keys: make([]map[string]bool, len(effects)), last: make([]world.Event, len(effects))}
	for _, e := range events {
		at := -1
		for i, f := range effects {
			if f.is(e) && (at < 0 || d.times[at] >= effects[at].times && d.times[i] < f.times) {
				at = i
			}
		}
		if at < 0 {
			d.others = append(d.others, e)
			continue
		}
		if d.keys[at] == nil {
			d.keys[at] = map[string]bool{}
		}
		if e.Kind == world.KindMail && d.keys[at][keyOf(e)] {
			continue // under its Message-ID it is the same message, also to who sees it twice
		}
		d.times[at]++
		d.keys[at][keyOf(e)] = true
		d.last[at] = e
	}
	return d
}

// whatWas names an effect.
func whatWas(e world.Event) string {
	if e.Message != nil {
		return fmt.Sprintf("the mail to %s", strings.Join(e.Message.To, ", "))
	}
	return toolabi.CleanLine(e.Method+" "+e.URL, maxLine)
}
