package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/wrun-dev/wrun/toolabi"
)

// outputs puts the outputs of things that were done together into a list, in their order.
type outputs struct {
	mu   sync.Mutex
	list [][]byte // guarded by mu
	size int      // guarded by mu: of the list as JSON
	bad  int      // guarded by mu: the first that is no JSON, from 1; 0 means none
}

func newOutputs(n int, keep bool) *outputs {
	if !keep {
		return nil
	}
	return &outputs{list: make([][]byte, n), size: 1 + max(1, n)}
}

// put keeps the i-th output. When they are too large together they are dropped: what list returns is decided then.
func (o *outputs) put(i int, output []byte) {
	if o == nil {
		return
	}
	valid := json.Valid(output)
	o.mu.Lock()
	defer o.mu.Unlock()
	if !valid && (o.bad == 0 || i+1 < o.bad) {
		o.bad = i + 1
	}
	if o.size += len(output); o.size > MaxValue {
		clear(o.list)
		return
	}
	o.list[i] = output
}

// json returns the list, or null when nobody looks at it.
func (o *outputs) json() ([]byte, error) {
	if o == nil {
		return []byte(null), nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.bad > 0:
		return nil, failure("output", fmt.Sprintf("the output of number %d is no JSON", o.bad-1))
	case o.size > MaxValue:
		return nil, toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("the list of the results has more than %d bytes as JSON", MaxValue))
	}
	return append(append([]byte("["), bytes.Join(o.list, []byte(","))...), ']'), nil
}
