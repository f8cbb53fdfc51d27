package fakemodel

import (
	"bytes"
	"encoding/json"
)

// encode is the JSON of a part of a reply. It can hold what is no UTF-8.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// eventList collects the events of a stream.
type eventList struct {
	list [][]byte
	err  error // the first
}

// add adds an event; of the protocol that names them, with its name.
func (l *eventList) add(name string, data any) {
	b, err := encode(data)
	if err != nil {
		if l.err == nil {
			l.err = err
		}
		return
	}
	head := ""
	if name != "" {
		head = "event: " + name + "\n"
	}
	l.list = append(l.list, append(append([]byte(head+"data: "), b...), "\n\n"...))
}

func (l *eventList) raw(text string) { l.list = append(l.list, []byte(text)) }
