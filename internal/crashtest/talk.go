package crashtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Talk is a child's end of its pipes: a Job comes in, and then a Verdict for each Doubt that goes out, a line of JSON each.
type Talk struct {
	in  *bufio.Reader
	out io.Writer
}

// message is what a child says: one of the fields.
type message struct {
	At    *Place `json:"at,omitempty"`
	Doubt *Doubt `json:"doubt,omitempty"`
	End   *End   `json:"end,omitempty"`
}

// NewTalk talks by standard input and output.
func NewTalk(in io.Reader, out io.Writer) *Talk { return &Talk{bufio.NewReader(in), out} }

// Job reads what is to be done.
func (t *Talk) Job() (j Job, err error) { return j, t.read(&j) }

// Ask asks what became of an effect.
func (t *Talk) Ask(d Doubt) (v Verdict, err error) {
	if err := t.say(message{Doubt: &d}); err != nil {
		return v, err
	}
	return v, t.read(&v)
}

// Dies says where the process dies now.
func (t *Talk) Dies(at Place) error { return t.say(message{At: &at}) }

// Ends says how it ended.
func (t *Talk) Ends(e End) error { return t.say(message{End: &e}) }

func (t *Talk) say(m message) error { return writeLine(t.out, m) }

func (t *Talk) read(v any) error {
	line, err := t.in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read from the process that judges: %w", err)
	}
	return json.Unmarshal(line, v)
}

// writeLine writes v as one line, in one write.
func writeLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Listen reads what a child says until it is dead, and answers its doubts.
func Listen(r io.Reader, w io.Writer, judge func(Doubt) (Verdict, error)) (at *Place, end *End, err error) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return at, end, nil
		}
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			return at, end, fmt.Errorf("read from a child: %w", err)
		}
		switch {
		case m.At != nil:
			at = m.At
		case m.End != nil:
			end = m.End
		case m.Doubt != nil:
			v, err := judge(*m.Doubt)
			if err == nil {
				err = writeLine(w, v)
			}
			if err != nil {
				return at, end, err
			}
		}
	}
}
