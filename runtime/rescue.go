package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// UnrecordedError says that replies came and could not be recorded. The effects took place; for the log they have no outcome. It
// wraps why the run stopped.
type UnrecordedError struct {
	Run     string
	Replies []Unrecorded
	Err     error
}

// Unrecorded is a reply that came and could not be recorded.
type Unrecorded struct {
	Step journal.Step
	// Said is the reply as ParseReply takes it, byte for byte.
	Said []byte
	// Path is the file that Said was saved in; "" where none could be written, and Err is why.
	Path string
	Err  error
}

// Error says where the replies are.
func (e *UnrecordedError) Error() string {
	var where []string
	for _, u := range e.Replies {
		if u.Path != "" {
			where = append(where, fmt.Sprintf("the reply of %s was saved in %s", u.Step, u.Path))
		} else {
			where = append(where, fmt.Sprintf("the reply of %s could be saved nowhere (%v), and is in this error alone", u.Step, u.Err))
		}
	}
	return fmt.Sprintf("%v; %s", e.Err, strings.Join(where, "; "))
}

// Unwrap returns why the run stopped.
func (e *UnrecordedError) Unwrap() error { return e.Err }

// rescue keeps a reply that came and cannot be recorded: with Config.Rescue, else in a file.
func (r *Run) rescue(step journal.Step, name string, reply []byte) {
	if f := r.engine.cfg.Rescue; f != nil {
		f(r.id, step, reply)
		return
	}
	u := Unrecorded{Step: step, Said: r.engine.say(name, reply)}
	u.Path, u.Err = saveReply(r.id, u.Said, r.engine.cfg.RescueDir, os.TempDir())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unrecorded = append(r.unrecorded, u)
}

// withUnrecorded adds to the error that a run ends with the replies that came and could not be recorded.
func (r *Run) withUnrecorded(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || len(r.unrecorded) == 0 {
		return err
	}
	return &UnrecordedError{Run: r.id, Replies: r.unrecorded, Err: err}
}

// saveReply writes a reply into a file of its own, mode 0600, in the first of the directories that take it whole. "" is none.
func saveReply(run string, said []byte, dirs ...string) (path string, err error) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if path, failed := writeReply(dir, run, said); failed == nil {
			return path, nil
		} else {
			err = errors.Join(err, failed)
		}
	}
	return "", err
}

func writeReply(dir, run string, said []byte) (path string, err error) {
	f, err := os.CreateTemp(dir, "wrun-rescued-"+run+"-*.json") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(said)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name())) // a part of it would be taken for the whole
	}
	if d, err := os.Open(dir); err == nil { // so that the name is there after a crash too, where directories can be synced
		_, _ = d.Sync(), d.Close()
	}
	return filepath.Clean(f.Name()), nil
}

// exactReply is the form of a reply whose function has no other one that keeps every byte.
type exactReply struct {
	Reply []byte `json:"wrun_reply_base64"`
}

// exactMark is how that form begins.
var exactMark = []byte(`{"wrun_reply_base64":"`)

// say writes a reply in a form that ParseReply takes, byte for byte: that of its function where nothing is lost in it, else the
// reply itself where the function has no form and it is JSON, else exactReply.
func (e *Engine) say(function string, reply []byte) []byte {
	fn := e.funcs[function]
	switch {
	case fn.ParseReply == nil && json.Valid(reply) && !bytes.HasPrefix(reply, exactMark):
		return reply
	case fn.ParseReply != nil && fn.ShowReply != nil:
		said, err := fn.ShowReply(reply)
		if err != nil || len(said) > toolabi.MaxInput || bytes.HasPrefix(said, exactMark) {
			break
		}
		if again, err := fn.ParseReply(said); err == nil && bytes.Equal(again, reply) {
			return said
		}
	}
	said, err := json.Marshal(exactReply{reply})
	if err != nil {
		return reply // which cannot be: the form has nothing but bytes in it
	}
	return said
}

// parseExact reads an exactReply, and says whether it is one.
func parseExact(said []byte) (reply []byte, is bool, err error) {
	if !bytes.HasPrefix(said, exactMark) {
		return nil, false, nil
	}
	var x exactReply
	dec := json.NewDecoder(bytes.NewReader(said))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil {
		return nil, true, fmt.Errorf("a reply that was saved: %w", err)
	}
	if again, err := json.Marshal(x); err != nil || !bytes.Equal(again, bytes.TrimSpace(said)) {
		return nil, true, errors.New("a reply that was saved is not as it was saved")
	}
	return x.Reply, true, nil
}
