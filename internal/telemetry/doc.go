// Package telemetry makes traces and metrics of what an engine says that runs do, sends them to a receiver of OpenTelemetry's protocol
// (OTLP, protobuf over HTTP), and writes the metrics in the text format of Prometheus.
//
// It is told, and never asked: nothing that it does delays a run, fails it or changes what it records. What cannot be sent in time is
// dropped and counted. It reads no environment, holds nothing of the journal, and knows only those values that runtime.Event holds,
// of which bodies go out only where Config says so.
//
// The encoding is written here and not taken from OpenTelemetry's SDK; docs/design.md says why, with figures. Its test decodes
// what is sent with the messages of go.opentelemetry.io/proto/otlp, in a module of its own.
package telemetry
