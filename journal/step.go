package journal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Step names one operation of a run. The grammar:
//
//	step    = top *( "/" child )
//	top     = name *( "[" digits "]" ) [ "?" ] [ "~" attempt ]
//	child   = ordinal [ "?" ] [ "~" attempt ]
//	name    = ( letter / digit / "_" ) *63( letter / digit / "_" / "-" / "." )
//	attempt = 2 or more
//
// "charge" is a call, "charge/2" the second host function it used, "charge/2/1" inside a tool that this one called,
// "charge[3]" in a loop, "charge~2/1" inside the second attempt. "charge?" is the question whether charge may begin; there is
// nothing inside of a question.
type Step string

const (
	maxStepBytes = 256
	maxStepDepth = 12
)

var (
	topSegment   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(\[(0|[1-9]\d{0,8})\]){0,4}\??(~([2-9]|[1-9]\d{1,5}))?$`)
	childSegment = regexp.MustCompile(`^[1-9]\d{0,8}\??(~([2-9]|[1-9]\d{1,5}))?$`)
)

// Validate reports how the step breaks the grammar.
func (s Step) Validate() error {
	if len(s) > maxStepBytes {
		return fmt.Errorf("step %.40q… has %d bytes, at most %d are allowed", string(s), len(s), maxStepBytes)
	}
	segments := strings.Split(string(s), "/")
	if len(segments) > maxStepDepth {
		return fmt.Errorf("step %q is %d deep, at most %d are allowed", string(s), len(segments), maxStepDepth)
	}
	for i, seg := range segments {
		re := childSegment
		if i == 0 {
			re = topSegment
		}
		if !re.MatchString(seg) {
			return fmt.Errorf("step %q: %q is no name of a step", string(s), seg)
		}
		if i < len(segments)-1 && strings.Contains(seg, "?") {
			return fmt.Errorf("step %q: there is nothing inside of the question %q", string(s), seg)
		}
	}
	return nil
}

// Parent returns the step that this one is inside of, "" for a step of the driver.
func (s Step) Parent() Step {
	if i := strings.LastIndexByte(string(s), '/'); i >= 0 {
		return s[:i]
	}
	return ""
}

// Child returns the n-th step inside this one, counted from 1.
func (s Step) Child(n int) Step { return s + Step("/"+strconv.Itoa(n)) }

// Holds says whether there is room for so many more levels inside the step.
func (s Step) Holds(levels int) bool { return strings.Count(string(s), "/")+1+levels <= maxStepDepth }

// Within says whether s lies below outer, at any depth.
func (s Step) Within(outer Step) bool {
	return len(s) > len(outer) && s[:len(outer)] == outer && s[len(outer)] == '/'
}

// Attempt returns which attempt this is, from 1.
func (s Step) Attempt() int {
	_, n := s.split()
	return n
}

// First returns the step's first attempt, the name without "~n" at its end.
func (s Step) First() Step {
	base, _ := s.split()
	return base
}

// At returns the n-th attempt of the step.
func (s Step) At(n int) Step {
	if n == 1 {
		return s.First()
	}
	return s.First() + Step("~"+strconv.Itoa(n))
}

// Question returns the step that asks whether this one may begin; all attempts of a step share it.
func (s Step) Question() Step { return s.First() + "?" }

// Asks returns the step that a question is about, "" for a step that is no question.
func (s Step) Asks() Step {
	if about, ok := strings.CutSuffix(string(s.First()), "?"); ok {
		return Step(about)
	}
	return ""
}

// Asked returns the step that a question is about, and every other step itself.
func (s Step) Asked() Step {
	if about := s.Asks(); about != "" {
		return about
	}
	return s
}

// Ordinal returns the number of a step inside another, 0 for a step of the driver.
func (s Step) Ordinal() int {
	i := strings.LastIndexByte(string(s), '/')
	if i < 0 {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(string(s[i+1:].First()), "?"))
	return n
}

// WithoutAttempts returns the step with every "~n" in it left out: what an idempotency key is made from.
func (s Step) WithoutAttempts() Step {
	segments := strings.Split(string(s), "/")
	for i, seg := range segments {
		segments[i] = string(Step(seg).First())
	}
	return Step(strings.Join(segments, "/"))
}

func (s Step) split() (Step, int) {
	last := strings.LastIndexByte(string(s), '/')
	if i := strings.LastIndexByte(string(s), '~'); i > last {
		if n, err := strconv.Atoi(string(s[i+1:])); err == nil {
			return s[:i], n
		}
	}
	return s, 1
}

var runID = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?(~[a-z]{1,16})?$`)

// ValidateRun reports how id breaks the grammar of run ids: lower-case letters, digits, and inner dots, hyphens and
// underscores, at most 128, perhaps with "~word" behind. Two ids that differ are different on every file system.
func ValidateRun(id string) error {
	if !runID.MatchString(id) {
		return fmt.Errorf("run id %.140q: want lower-case letters, digits and inner . - _, at most 128", id)
	}
	return nil
}
