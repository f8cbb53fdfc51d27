// Package otlptest holds what internal/telemetry sends against the messages of OpenTelemetry's protocol as their authors publish them.
// It is a module of its own, so that wrun itself needs none of them. It has tests only.
package otlptest
