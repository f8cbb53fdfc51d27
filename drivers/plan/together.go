package plan

import (
	"fmt"
	"sync"
)

// together does n things, at most limit of them at once, and returns when all that were begun have ended.
//
// Which ones are begun must not depend on time, or a run that is resumed would ask for others than the log holds. So
// nothing that was begun is broken off because another one failed, and the i-th is begun when all up to the one limit
// places before it have succeeded. Of several errors that which stops the run counts first, because what is then not done
// is not decided yet, and then the first in order.
func together(n, limit int, do func(i int) error) error {
	if limit == 1 {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	var panicked panics
	ended := make([]chan struct{}, n)
	begun := 0
	for ; begun < n; begun++ {
		if before := begun - limit; before >= 0 {
			if <-ended[before]; errs[before] != nil {
				break
			}
		}
		i, done := begun, make(chan struct{})
		ended[i] = done
		go func() {
			defer close(done)
			defer panicked.note(&errs[i])
			errs[i] = do(i)
		}()
	}
	for _, done := range ended[:begun] {
		<-done
	}
	panicked.again()
	return worst(errs[:begun])
}

// worst returns the first error that stops the run, or else the first.
func worst(errs []error) (worst error) {
	for _, err := range errs {
		if err == nil {
			continue
		}
		if _, failed := err.(*StepError); !failed {
			return err
		}
		if worst == nil {
			worst = err
		}
	}
	return worst
}

// panics carries a panic of one goroutine to the one that waits for it, where the driver of the run is waited for too.
type panics struct {
	mu    sync.Mutex
	first any // guarded by mu
}

func (p *panics) note(err *error) {
	if v := recover(); v != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.first == nil {
			p.first = v
		}
		*err = fmt.Errorf("panic: %v", v)
	}
}

func (p *panics) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first != nil {
		panic(p.first)
	}
}
