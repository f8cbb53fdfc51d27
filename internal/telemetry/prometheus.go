package telemetry

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// PrometheusType is the content type of what WritePrometheus writes.
const PrometheusType = "text/plain; version=0.0.4; charset=utf-8"

// WritePrometheus writes the metrics in the text format of Prometheus.
func (m *Metrics) WritePrometheus(w io.Writer) error {
	var b bytes.Buffer
	for _, metric := range m.all() {
		metric.writePrometheus(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// prometheusName is a metric's name as Prometheus has it: with its unit, and _total behind a counter's.
func (m *metric) prometheusName() string {
	name := strings.ReplaceAll(m.name, ".", "_")
	if m.unit == "s" {
		name += "_seconds"
	}
	if m.bounds == nil {
		name += "_total"
	}
	return name
}

func (m *metric) writePrometheus(b *bytes.Buffer) {
	name, sort := m.prometheusName(), "counter"
	if m.bounds != nil {
		sort = "histogram"
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, m.help, name, sort)
	for _, p := range m.snapshot() {
		if m.bounds == nil {
			fmt.Fprintf(b, "%s%s %s\n", name, labels(p.attributes, ""), number(p.sum))
			continue
		}
		below := uint64(0)
		for i, n := range p.buckets {
			below += n
			bound := "+Inf"
			if i < len(m.bounds) {
				bound = number(m.bounds[i])
			}
			fmt.Fprintf(b, "%s_bucket%s %d\n", name, labels(p.attributes, bound), below)
		}
		fmt.Fprintf(b, "%s_sum%s %s\n%s_count%s %d\n", name, labels(p.attributes, ""), number(p.sum), name, labels(p.attributes, ""), p.count)
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels are attributes as labels, with the bound of a bucket where there is one.
func labels(as []attribute, bound string) string {
	var pairs []string
	for _, a := range as {
		pairs = append(pairs, strings.ReplaceAll(a.key, ".", "_")+`="`+escaped.Replace(a.value.(string))+`"`)
	}
	if bound != "" {
		pairs = append(pairs, `le="`+bound+`"`)
	}
	if pairs == nil {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
