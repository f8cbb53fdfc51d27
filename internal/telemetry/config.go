package telemetry

import (
	"net/http"
	"time"
)

// Config says what becomes of what is observed. The zero value keeps metrics and sends nothing.
type Config struct {
	// Traces and Metrics are where each is sent; an empty URL sends none.
	Traces, Metrics Endpoint
	// Service is the service.name, default wrun; Version the version of this program; Resource further attributes of what sends.
	Service, Version string
	Resource         map[string]string
	// Sampled is the share of runs that are traced, from 0 to 1. A run is traced wholly or not at all, however often it is resumed.
	Sampled float64
	// Parent is linked to, such as the job that started this process; its zero value is none.
	Parent SpanContext
	// Bodies adds inputs, outputs, requests and replies to spans, as the journal has them, each cut to 8 KiB.
	Bodies bool
	// TracesEvery and MetricsEvery are how long spans and metrics wait to be sent; 0 means 5 s and 60 s. Timeout bounds one request,
	// default 10 s.
	TracesEvery, MetricsEvery, Timeout time.Duration
	// Transport sends the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Complain is told, once, that something could not be sent. It is called from a goroutine of the Observer; nil tells nobody.
	Complain func(string)
}

// Endpoint is a receiver: the whole URL, and the headers that it wants. Neither is ever shown.
type Endpoint struct {
	URL     string
	Headers map[string]string
}

func (c Config) withDefaults() Config {
	if c.Service == "" {
		c.Service = "wrun"
	}
	if c.TracesEvery <= 0 {
		c.TracesEvery = 5 * time.Second
	}
	if c.MetricsEvery <= 0 {
		c.MetricsEvery = time.Minute
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Complain == nil {
		c.Complain = func(string) {}
	}
	return c
}
