package policy

import (
	"cmp"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/internal/jq"
)

// rule is one rule of a policy.
type rule struct {
	line   int
	tool   pattern
	when   *condition // nil: always
	do     Verdict
	reason string
	within time.Duration
}

// pattern says which tools a rule is about; "" stands for every name.
type pattern struct{ module, tool string }

func (p pattern) matches(module, tool string) bool {
	return (p.module == "" || p.module == module) && (p.tool == "" || p.tool == tool)
}

// String is how the pattern is written.
func (p pattern) String() string {
	return cmp.Or(p.module, "*") + "." + cmp.Or(p.tool, "*")
}

// covers says whether p matches everything that q does.
func (p pattern) covers(q pattern) bool {
	return (p.module == "" || p.module == q.module) && (p.tool == "" || p.tool == q.tool)
}

// condition is what stands behind "when": an expression, or false for a rule that is switched off.
type condition struct {
	text  string
	code  *jq.Expr // nil: never
	input bool     // it may look at the input
}

func (r *rule) decision() Decision {
	d := Decision{Do: r.do, Reason: r.reason, Rule: r.line, Within: r.within}
	if d.Reason == "" && d.Do != Allow {
		d.Reason = fmt.Sprintf("line %d of the policy says %s", r.line, d.Do)
	}
	return d
}
