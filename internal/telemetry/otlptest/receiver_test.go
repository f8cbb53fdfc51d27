package otlptest

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// receiver is a receiver of OTLP over HTTP. It reads with the published messages, and refuses what these do not know.
type receiver struct {
	*httptest.Server

	mu      sync.Mutex
	raw     []byte // guarded by mu: every byte that came, headers too
	spans   []*traces.Span
	metrics map[string]*metrics.Metric
	from    map[string]string // guarded by mu: the resource's attributes
	wrong   []string
	changed chan struct{}
}

// newReceiver begins to receive. What was wrong fails the test at its end.
func newReceiver(t *testing.T) *receiver {
	r := &receiver{metrics: map[string]*metrics.Metric{}, from: map[string]string{}, changed: make(chan struct{})}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.Close()
		for _, w := range r.wrong {
			t.Error(w)
		}
	})
	return r
}

// ServeHTTP takes a request. Its message is read as the data that receivers keep, which have the same fields.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(fmt.Appendf(r.raw, "%s %v\n", req.URL, req.Header), body...)
	if err == nil {
		err = r.take(req, body)
	}
	if err != nil {
		r.wrong = append(r.wrong, fmt.Sprintf("%s %s: %v", req.Method, req.URL, err))
		w.WriteHeader(http.StatusBadRequest)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *receiver) take(req *http.Request, body []byte) error {
	if got := req.Header.Get("Content-Type"); req.Method != http.MethodPost || got != "application/x-protobuf" {
		return fmt.Errorf("content type %q", got)
	}
	switch req.URL.Path {
	case "/v1/traces":
		var data traces.TracesData
		if err := read(body, &data); err != nil {
			return err
		}
		for _, of := range data.ResourceSpans {
			r.identify(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				r.spans = append(r.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var data metrics.MetricsData
		if err := read(body, &data); err != nil {
			return err
		}
		for _, of := range data.ResourceMetrics {
			r.identify(of.Resource.Attributes)
			for _, s := range of.ScopeMetrics {
				for _, m := range s.Metrics {
					r.metrics[m.Name] = m
				}
			}
		}
	default:
		return fmt.Errorf("no such path")
	}
	return nil
}

func (r *receiver) identify(as []*common.KeyValue) {
	for k, v := range attributes(as) {
		r.from[k] = v
	}
}

// read decodes a message, and refuses fields that it does not have.
func read(body []byte, into proto.Message) error {
	if err := proto.Unmarshal(body, into); err != nil {
		return err
	}
	return unknown(into.ProtoReflect())
}

func unknown(m protoreflect.Message) (err error) {
	if n := len(m.GetUnknown()); n > 0 {
		return fmt.Errorf("%s has %d bytes of fields that it does not know", m.Descriptor().FullName(), n)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				if err == nil {
					err = unknown(v.List().Get(i).Message())
				}
			}
		default:
			err = unknown(v.Message())
		}
		return err == nil
	})
	return err
}

// until waits until what was received is as wanted.
func (r *receiver) until(t *testing.T, what string, as func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		r.mu.Lock()
		done, changed := as(), r.changed
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s was not received", what)
		}
	}
}

// named returns the spans of a name.
func (r *receiver) named(name string) (found []*traces.Span) {
	for _, s := range r.spans {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// one returns the only span of a name.
func (r *receiver) one(t *testing.T, name string) *traces.Span {
	t.Helper()
	found := r.named(name)
	if len(found) != 1 {
		var names []string
		for _, s := range r.spans {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		t.Fatalf("%d spans are named %q; there are %q", len(found), name, names)
	}
	return found[0]
}

// attributes are attributes as text.
func attributes(as []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range as {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[a.Key] = fmt.Sprint(v.IntValue)
		default:
			m[a.Key] = fmt.Sprintf("%T", v)
		}
	}
	return m
}

func id(b []byte) string { return hex.EncodeToString(b) }
