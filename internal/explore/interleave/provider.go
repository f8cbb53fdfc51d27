package interleave

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// How long things take in the simulated world.
const (
	sendTimeout = 10 * time.Second
	settleTime  = 5 * time.Second // of tools that must not be repeated
	keyTTL      = 2 * time.Minute
	leaseTime   = 40 * time.Second
	napTime     = 20 * time.Second
	answerTime  = 90 * time.Second // within which a yes counts, where that is limited
)

// promise is what the provider and the log are held to for an operation.
type promise uint8

const (
	onlyOnce   promise = iota + 1 // the provider ignores keys, and acts on whatever arrives
	keyed                         // it remembers keys for keyTTL
	repeatable                    // it may act as often as it is asked
)

// message is a request on its way, or its reply.
type message struct {
	p       *process
	op      string // what is to be done: the request without what was read before
	request string
	step    journal.Step
	key     string
	again   bool // it may be repeated
	promise promise
	sent    time.Time
	expires time.Time // the network does not keep it longer
	waits   bool      // its sender waits for the reply
	acted   bool
	reply   string
}

// provider is the world outside. It outlives every process. It is guarded by the trial's mu.
type provider struct {
	acts     map[string]int    // of an operation: how often it took place
	replies  map[string]string // of an operation: the reply to the last time
	promises map[string]promise
	keys     map[string]remembered
	under    map[journal.Step]string // of a step: the key of its first send
	sent     map[string]int          // of a key: how often it has left
	net      []*message
	replied  []*message // replies that reached a process
	total    int
}

type remembered struct {
	at    time.Time
	reply string
}

func newProvider() *provider {
	return &provider{
		acts: map[string]int{}, replies: map[string]string{}, promises: map[string]promise{}, keys: map[string]remembered{}, under: map[journal.Step]string{}, sent: map[string]int{},
	}
}

// act is what happens when a request arrives.
func (v *provider) act(m *message, now time.Time) {
	m.acted = true
	if k, ok := v.keys[m.key]; m.promise == keyed && ok && now.Before(k.at.Add(keyTTL)) {
		m.reply = k.reply
		return
	}
	v.total++
	v.acts[m.op]++
	m.reply = fmt.Sprintf("%s done as %d", m.op, v.total)
	v.replies[m.op] = m.reply
	if m.promise == keyed {
		v.keys[m.key] = remembered{now, m.reply}
	}
}

// write is what happens when a program writes.
func (v *provider) write(op string, is promise) {
	v.total++
	v.acts[op]++
	v.promises[op] = is
	v.replies[op] = fmt.Sprintf("%s done as %d", op, v.total)
}

func (v *provider) drop(m *message) {
	v.net = slices.DeleteFunc(v.net, func(o *message) bool { return o == m })
}

// onItsWay says whether a request may still arrive.
func (v *provider) onItsWay(op string, now time.Time) bool {
	return slices.ContainsFunc(v.net, func(m *message) bool { return m.op == op && !m.acted && !now.After(m.expires) })
}

// opOf returns the operation of a request.
func opOf(request string) string {
	op, _, _ := strings.Cut(request, "?")
	return op
}

// request is one use of a function that sends.
type request struct {
	step       journal.Step
	body, key  string
	again      bool // it may be repeated
	promise    promise
	beforeSend func() error
}

// send sends a request and waits for its reply, as http_send does.
func (t *trial) send(ctx context.Context, p *process, q request) ([]byte, error) {
	t.began(p, "a request", string(q.step))
	if p.free {
		return nil, errDead // nothing leaves a replay
	}
	switch t.pause(p, waiter{at: atSend, step: string(q.step)}) {
	case dead:
		return nil, errDead
	case refused:
		return nil, &toolabi.Error{Code: toolabi.Unavailable, Message: "no connection", Effect: toolabi.EffectNone, Retry: toolabi.RetrySafe}
	}
	if err := ctx.Err(); err != nil {
		return nil, &toolabi.Error{Code: toolabi.Unavailable, Message: err.Error(), Effect: toolabi.EffectNone}
	}
	if err := q.beforeSend(); err != nil {
		return nil, err
	}
	m, next := t.dispatch(p, q)
	if m == nil {
		return nil, errDead
	}
	v := goOn
	select {
	case v = <-next:
	case <-ctx.Done():
		t.leave(m)
	}
	switch v {
	case dead:
		return nil, errDead
	case replied:
		return []byte(m.reply), nil
	case illegible:
		return nil, &toolabi.Error{Code: toolabi.Failed, Message: "a reply that cannot be read", Effect: toolabi.EffectApplied}
	}
	return nil, &toolabi.Error{Code: toolabi.Unavailable, Message: "no reply came", Effect: toolabi.EffectUnknown}
}

// dispatch puts a request on its way. Nothing happens between the last check and this.
func (t *trial) dispatch(p *process, q request) (*message, <-chan verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.dead {
		return nil, nil
	}
	now := time.Now()
	m := &message{p: p, op: opOf(q.body), request: q.body, again: q.again, step: q.step, key: q.key, promise: q.promise, sent: now, waits: true}
	m.expires = now.Add(sendTimeout)
	if q.promise == onlyOnce {
		m.expires = m.expires.Add(settleTime)
	}
	t.world.promises[m.op] = q.promise
	t.world.sent[m.key]++
	t.checkSend(m)
	t.world.net = append(t.world.net, m)
	return m, t.enqueue(p, waiter{at: atReply, step: string(q.step), msg: m})
}
