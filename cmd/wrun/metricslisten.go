package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/telemetry"
)

// addMetrics adds the flag of verbs that drive for long.
func (a *app) addMetrics(c *cobra.Command) {
	c.Flags().StringVar(&a.metricsListen, "metrics-listen", "", "serve metrics for Prometheus at `ADDRESS`/metrics while the command lasts, such as :9464; without a host it is 127.0.0.1")
}

// listenForMetrics serves the metrics where that is wanted, until endTelemetry.
func (a *app) listenForMetrics() error {
	if a.metricsListen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(a.metricsListen)
	if err != nil {
		return &codedError{codeMetricsListen, fmt.Errorf("--metrics-listen %s: want HOST:PORT or :PORT", a.metricsListen)}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return &codedError{codeMetricsListen, fmt.Errorf("--metrics-listen %s: %w", a.metricsListen, err)}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsHandler(a.telemetry.Metrics(), l.Addr()))
	a.metricsServer = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	a.say("metrics at http://%s/metrics", l.Addr())
	go func() { _ = a.metricsServer.Serve(l) }() // until endTelemetry closes it, and the process ends
	return nil
}

// metricsHandler answers with the metrics. On loopback it answers to no other name: a page in a browser could point one here.
func metricsHandler(m *telemetry.Metrics, at net.Addr) http.Handler {
	own, _ := netip.ParseAddrPort(at.String())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if own.Addr().IsLoopback() && !namesLoopback(r.Host) {
			http.Error(w, "this server answers to loopback addresses alone", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", telemetry.PrometheusType)
		_ = m.WritePrometheus(w) // to whoever still listens
	})
}

// namesLoopback says whether a Host header is localhost or an address of loopback.
func namesLoopback(header string) bool {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = header
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
