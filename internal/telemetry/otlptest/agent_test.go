package otlptest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// Values that nobody may receive: a secret's, the model's key, and words of requests, replies and the task.
const (
	secretValue = "canary-5f1c9e-of-a-secret"
	modelKey    = "canary-77ab02-of-the-model"
	reference   = "canary-31d8ee-of-a-request"
	answered    = "canary-90c4aa-of-a-reply"
	instruction = "canary-c0ffee-of-a-task"
	headerValue = "token-for-the-receiver"
)

const agentFile = `
model: { use: scripted, script: replies.yaml }
tools:
  payments: { from: ./payments.wasm, use: [charge] }
  parrot: { from: ./parrot.wasm, use: [once] }
`

// %s are the ledger, the reference, and the address that hears the secret.
const replies = `
replies:
  - when: .turn == 0
    call: payments.charge
    with: { ledger: "%s", account: ada, amount_cents: 500, reference: %s }
  - when: .turn == 1
    call: parrot.once
    with: { method: POST, url: "%s/hear", put: [output, call] }
  - say: done
`

// office is the command with all that an agent needs, in a directory of its own.
type office struct {
	t        *testing.T
	dir      string
	env      []string
	ledger   *ledger.Server
	model    *fakemodel.Server
	echo     *httptest.Server
	receiver *receiver
}

func newOffice(t *testing.T) *office {
	o := &office{t: t, dir: t.TempDir(), receiver: newReceiver(t)}
	var err error
	if o.ledger, err = ledger.Start(ledger.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.ledger.Close() })
	o.echo = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", answered, r.Header.Get("Authorization"), body)
	}))
	t.Cleanup(o.echo.Close)
	o.write("cashier.yaml", agentFile)
	o.write("replies.yaml", fmt.Sprintf(replies, o.ledger.URL(), reference, o.echo.URL))
	text, err := script.Parse([]byte(o.read("replies.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	if o.model, err = fakemodel.Start(fakemodel.Config{Script: text, Key: modelKey}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.model.Close() })
	o.write("payments.wasm", string(wasmtest.Tool(t, wrun(t, "tools/payments"))))
	o.write("parrot.wasm", string(wasmtest.Tool(t, wrun(t, "internal/wasmtest/guests/parrot"))))
	build := exec.Command("go", "build", "-o", filepath.Join(o.dir, "wrun"), "./cmd/wrun")
	build.Dir = wrun(t, "")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	o.env = append(os.Environ(),
		"WRUN_JOURNAL="+filepath.Join(o.dir, "journal.db"), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+filepath.Join(o.dir, "config"),
		"WRUN_MODEL=openai/scripted", "WRUN_MODEL_BASE_URL="+o.model.URL()+"/v1", "WRUN_MODEL_KEY=env:MODEL_KEY", "MODEL_KEY="+modelKey, "CANARY="+secretValue,
		"OTEL_EXPORTER_OTLP_ENDPOINT="+o.receiver.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key="+headerValue, "OTEL_BSP_SCHEDULE_DELAY=5",
		"OTEL_SERVICE_NAME=office", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test,service.name=other",
		"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	)
	return o
}

// wrun is a path in wrun's own module.
func wrun(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join("../../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (o *office) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) read(name string) string {
	o.t.Helper()
	b, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil {
		o.t.Fatal(err)
	}
	return string(b)
}

func (o *office) command(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(o.dir, "wrun"), args...)
	c.Dir, c.Env = o.dir, o.env
	return c
}

// runs runs a command that has to succeed.
func (o *office) runs(args ...string) {
	o.t.Helper()
	if out, err := o.command(args...).CombinedOutput(); err != nil {
		o.t.Fatalf("wrun %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (o *office) agent(id string) []string {
	return []string{"agent", "cashier.yaml", instruction, "--id", id, "--allow-http", o.ledger.URL(), "--allow-http", o.echo.URL, "--secret", "key=env:CANARY@" + o.echo.URL}
}

// A run of an agent whose process is killed while it pays, and that another one finishes, is one trace with every step at its place.
func TestARunIsOneTraceAlsoOverAKill(t *testing.T) {
	o := newOffice(t)
	b := o.ledger.Behaviour()
	b.Hang = 1
	o.ledger.SetBehaviour(b)
	first := o.command(o.agent("till")...)
	var said bytes.Buffer
	first.Stdout, first.Stderr = &said, &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	pays, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- first.Wait(); cancel() }()
	if err := o.ledger.WaitHanging(pays, 1); err != nil {
		t.Fatalf("it did not come to pay: %v, %s", <-ended, said.String())
	}
	o.receiver.until(t, "the first answer of the model", func() bool { return len(o.receiver.named("chat scripted")) == 1 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	o.ledger.Release()
	o.runs("resolve", "till", "call[0][0]/1", "--happened", fmt.Sprintf(`{"id":"ch_1","account":"ada","amount_cents":500,"reference":%q}`, reference))
	o.runs("resume", "till")

	r := o.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.one(t, "run agent")
	for _, s := range r.spans {
		if id(s.TraceId) != id(run.TraceId) {
			t.Errorf("span %q is in another trace", s.Name)
		}
	}
	charge, once := r.one(t, "call payments.charge"), r.one(t, "call parrot.once")
	for _, c := range []struct {
		span   *traces.Span
		parent *traces.Span
	}{
		{run, nil}, {r.one(t, "drive agent"), run}, {charge, run}, {once, run}, {r.one(t, "http_send POST"), once}, {r.one(t, "call parrot.listen"), once},
		{r.named("chat scripted")[0], run}, {r.named("chat scripted")[1], run}, {r.named("chat scripted")[2], run},
	} {
		want := ""
		if c.parent != nil {
			want = id(c.parent.SpanId)
		}
		if got := id(c.span.ParentSpanId); got != want {
			t.Errorf("%s lies below %q, want %q", c.span.Name, got, want)
		}
	}
	if len(r.spans) != 9 {
		t.Errorf("%d spans, want 9", len(r.spans))
	}
	if asked := r.named("chat scripted")[0]; charge.StartTimeUnixNano < asked.EndTimeUnixNano || charge.StartTimeUnixNano > r.one(t, "drive agent").StartTimeUnixNano {
		t.Error("the call that was killed did not begin in the process that began it")
	}
	served(t, r.one(t, "drive agent"), "model[0]")
	served(t, charge, "call[0][0]/1")
	if l := r.one(t, "drive agent").Links; len(l) != 1 || id(l[0].TraceId) != "0af7651916cd43dd8448eb211c80319c" || id(l[0].SpanId) != "b7ad6b7169203331" {
		t.Errorf("links are %v", l)
	}
	send := attributes(r.one(t, "http_send POST").Attributes)
	for k, want := range map[string]string{
		"http.request.method": "POST", "server.address": "127.0.0.1", "http.response.status_code": "200", "wrun.run": "till", "wrun.step": "call[1][0]/1",
		"wrun.class": "once", "wrun.outcome": "ok", "wrun.effect": "applied", "wrun.attempt": "1",
	} {
		if send[k] != want {
			t.Errorf("http_send: %s is %q, want %q", k, send[k], want)
		}
	}
	chat := attributes(r.named("chat scripted")[2].Attributes)
	for k, want := range map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "scripted"} {
		if chat[k] != want {
			t.Errorf("chat: %s is %q, want %q", k, chat[k], want)
		}
	}
	if chat["gen_ai.usage.input_tokens"] == "" || chat["gen_ai.usage.output_tokens"] == "" {
		t.Errorf("chat has no tokens: %v", chat)
	}
	if r.from["service.name"] != "office" || r.from["deployment.environment.name"] != "test" {
		t.Errorf("the resource is %v", r.from)
	}
	if !bytes.Contains(r.raw, []byte(headerValue)) {
		t.Error("the receiver was not sent its header")
	}
	o.absent(r, secretValue, modelKey, reference, answered, instruction, "/hear")
	if got := o.ledger.Count().Charges; got != 1 {
		t.Errorf("%d charges, want 1", got)
	}
}

// served says that a span has an event for a step that was served from the journal.
func served(t *testing.T, s *traces.Span, step string) {
	t.Helper()
	for _, e := range s.Events {
		if e.Name == "served" && attributes(e.Attributes)["wrun.step"] == step {
			return
		}
	}
	t.Errorf("%s was served nothing of %s: %v", s.Name, step, s.Events)
}

// absent fails the test when something was received.
func (o *office) absent(r *receiver, values ...string) {
	o.t.Helper()
	for _, v := range values {
		if bytes.Contains(r.raw, []byte(v)) {
			o.t.Errorf("%q was received", v)
		}
	}
}

// Bodies are received by who asks for them, and secrets by nobody.
func TestBodiesAreSentWhereSomebodyAsksForThem(t *testing.T) {
	o := newOffice(t)
	o.env = append(o.env, "WRUN_TELEMETRY_BODIES=true")
	o.runs(o.agent("open")...)
	r := o.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range []string{reference, answered, instruction, "/hear", "[secret:key]"} {
		if !bytes.Contains(r.raw, []byte(v)) {
			t.Errorf("%q was not received", v)
		}
	}
	o.absent(r, secretValue, modelKey)
	documented(t, r)
}
