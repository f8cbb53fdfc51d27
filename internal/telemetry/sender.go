package telemetry

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

const (
	maxWaiting = 2048 // spans that wait to be sent
	maxBatch   = 512  // spans in one request
	maxTries   = 4    // of one request, with pauses of 1, 2 and 4 seconds between them
)

// sender sends spans and metrics from one goroutine.
type sender struct {
	cfg      Config
	metrics  *Metrics
	client   http.Client
	resource []byte
	spans    chan *span
	closing  chan struct{}
	done     chan struct{}
	cancel   context.CancelFunc // breaks off what is being sent
	complain sync.Once
}

func startSender(cfg Config, metrics *Metrics) *sender {
	ctx, cancel := context.WithCancel(context.Background()) // until close, whatever becomes of what is observed
	s := &sender{
		cfg: cfg, metrics: metrics, cancel: cancel, spans: make(chan *span, maxWaiting), closing: make(chan struct{}), done: make(chan struct{}),
		client: http.Client{Transport: cfg.Transport, Timeout: cfg.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // which would be given the headers
		}},
	}
	s.resource = resource(identity(cfg))
	go s.run(ctx)
	return s
}

// identity is what the receiver is told of who sends. Each process counts for itself, so that it has a name of its own.
func identity(cfg Config) []attribute {
	own := map[string]string{
		"service.instance.id": rand.Text(), "telemetry.sdk.name": "wrun", "telemetry.sdk.language": "go", "telemetry.sdk.version": cfg.Version,
	}
	if cfg.Version != "" {
		own["service.version"] = cfg.Version
	}
	maps.Copy(own, cfg.Resource)
	own["service.name"] = cfg.Service
	var as []attribute
	for _, k := range slices.Sorted(maps.Keys(own)) {
		as = append(as, text(clean(k, maxText), own[k]))
	}
	return as
}

// add queues a span, or drops it.
func (s *sender) add(sp *span) {
	select {
	case s.spans <- sp:
	default:
		s.drop(1)
	}
}

func (s *sender) drop(n int) { s.metrics.dropped.add(float64(n)) }

// close sends what is queued, and gives up when ctx ends.
func (s *sender) close(ctx context.Context) {
	close(s.closing)
	stop := context.AfterFunc(ctx, s.cancel)
	<-s.done
	stop()
	s.cancel()
}

func (s *sender) run(ctx context.Context) {
	defer close(s.done)
	spans, metrics := time.NewTicker(s.cfg.TracesEvery), time.NewTicker(s.cfg.MetricsEvery)
	defer spans.Stop()
	defer metrics.Stop()
	var batch []*span
	flush := func() {
		s.sendSpans(ctx, batch)
		batch = nil
	}
	for {
		select {
		case sp := <-s.spans:
			if batch = append(batch, sp); len(batch) == maxBatch {
				flush()
			}
		case <-spans.C:
			flush()
		case <-metrics.C:
			s.sendMetrics(ctx)
		case <-s.closing:
			for len(s.spans) > 0 {
				if batch = append(batch, <-s.spans); len(batch) == maxBatch {
					flush()
				}
			}
			flush()
			s.sendMetrics(ctx)
			return
		}
	}
}

func (s *sender) sendSpans(ctx context.Context, batch []*span) {
	if len(batch) == 0 || s.cfg.Traces.URL == "" {
		return
	}
	var items [][]byte
	for _, sp := range batch {
		items = append(items, sp.encode())
	}
	if err := s.send(ctx, s.cfg.Traces, request(s.resource, s.cfg.Version, items)); err != nil {
		s.drop(len(batch))
		s.say("traces", err)
	}
}

func (s *sender) sendMetrics(ctx context.Context) {
	if s.cfg.Metrics.URL == "" {
		return
	}
	var items [][]byte
	now := time.Now()
	for _, m := range s.metrics.all() {
		if item := m.encode(s.metrics.since, now); item != nil {
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return
	}
	if err := s.send(ctx, s.cfg.Metrics, request(s.resource, s.cfg.Version, items)); err != nil {
		s.say("metrics", err)
	}
}

// say complains the first time.
func (s *sender) say(what string, err error) {
	s.complain.Do(func() {
		s.cfg.Complain(fmt.Sprintf("telemetry: send %s: %v; runs go on without, and this is said once", what, err))
	})
}

// send sends one request, and again while the receiver says that this can help and nobody closes.
func (s *sender) send(ctx context.Context, to Endpoint, body []byte) error {
	for try := 1; ; try++ {
		again, err := s.post(ctx, to, body)
		if err == nil || !again || try == maxTries {
			return err
		}
		pause := time.NewTimer(time.Second << (try - 1))
		select {
		case <-pause.C:
		case <-s.closing:
			pause.Stop()
			return err
		}
	}
}

// post sends one request once. again says that it may go better later.
func (s *sender) post(ctx context.Context, to Endpoint, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return false, withoutURL(err)
	}
	for k, v := range to.Headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "wrun/"+s.cfg.Version)
	resp, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return false, errors.New("the receiver did not answer in time")
		}
		return true, withoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if resp.StatusCode/100 != 2 {
		return again, fmt.Errorf("the receiver answered with status %d", resp.StatusCode)
	}
	return false, nil
}

// withoutURL is an error without the address, which can hold a password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
