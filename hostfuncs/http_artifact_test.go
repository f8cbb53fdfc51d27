package hostfuncs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// shelf keeps artifacts in memory, or only their length where light is set.
type shelf struct {
	light bool
	full  error // what Put says in the end
	end   error // what comes at the end of an artifact that is read

	mu    sync.Mutex // guards the rest
	items map[toolabi.Digest][]byte
	used  uint64
	count int
}

func (s *shelf) Put(_ context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	var b bytes.Buffer
	h := sha256.New()
	var w io.Writer = io.MultiWriter(h, &b)
	if s.light {
		w = h
	}
	n, err := io.CopyBuffer(w, struct{ io.Reader }{r}, make([]byte, 32<<10))
	if err == nil {
		err = s.full
	}
	if err != nil {
		return toolabi.Digest{}, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items == nil {
		s.items = map[toolabi.Digest][]byte{}
	}
	d := toolabi.Digest(h.Sum(nil))
	s.items[d], s.used, s.count = b.Bytes(), s.used+uint64(n), s.count+1
	return d, n, nil
}

func (s *shelf) Open(_ context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.items[d]
	if !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "no such artifact")
	}
	var r io.Reader = bytes.NewReader(b)
	size := int64(len(b))
	switch {
	case errors.Is(s.end, io.ErrUnexpectedEOF): // shorter than it was
		r = bytes.NewReader(b[:len(b)/2])
	case errors.Is(s.end, io.ErrShortBuffer): // longer
		r = io.MultiReader(r, strings.NewReader("x"))
	case s.end != nil:
		r = io.MultiReader(r, failing{s.end})
	}
	return io.NopCloser(r), size, nil
}

func (s *shelf) Usage(context.Context) (int, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count, s.used, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// keeping is a call that may keep artifacts on s.
func keeping(s *shelf, quota uint64, origins ...string) hostfuncs.Call {
	c := granted(origins...)
	c.Grants.Artifacts, c.Artifacts = quota, s
	return c
}

func nameOf(b string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(b))) }

func TestABodyIsKeptAsAnArtifact(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", toolabi.MaxHTTPBody/16+100)
	for name, tt := range map[string]struct {
		raw, body string
		ask       func(*toolabi.HTTPRequest)
	}{
		"length":     {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(long), long), long, nil},
		"to the end": {"HTTP/1.1 200 OK\r\n\r\n" + long, long, nil},
		"an error":   {"HTTP/1.1 404 x\r\n\r\nnot here", "not here", nil},
		"empty":      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", nil},
		"204":        {"HTTP/1.1 204 x\r\n\r\n", "", nil},
		"gzip":       {zip(gzipped(long[:1<<19])), long[:1<<19], decompressing},
		"binary":     {"HTTP/1.1 200 OK\r\n\r\n\x00\xff\xfe", "\x00\xff\xfe", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, tt.raw)
			for _, method := range []string{"GET", "POST"} {
				kept := new(shelf)
				req := toolabi.HTTPRequest{Method: method, URL: s.url, ToArtifact: uint64(len(long))}
				if tt.ask != nil {
					tt.ask(&req)
				}
				reply, err := either(t, keeping(kept, 1<<30, s.url), req)
				if err != nil || reply.Artifact != nameOf(tt.body) || reply.Size != uint64(len(tt.body)) || len(reply.Body) != 0 {
					t.Fatalf("%s: got %+v, %v", method, reply, err)
				}
				if got := kept.items[sha256.Sum256([]byte(tt.body))]; string(got) != tt.body {
					t.Errorf("%s: %d bytes were kept, want %d", method, len(got), len(tt.body))
				}
			}
		})
	}
}

// either asks the function that has the method.
func either(t *testing.T, c hostfuncs.Call, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	t.Helper()
	if req.Method == "GET" {
		return fetch(t, hostfuncs.Config{}, c, req)
	}
	return send(t, hostfuncs.Config{}, c, req)
}

func TestABodyThatBreaksOffOrIsTooLongIsNotKept(t *testing.T) {
	for name, tt := range map[string]struct {
		raw    string
		limit  uint64
		quota  uint64
		ask    func(*toolabi.HTTPRequest)
		code   toolabi.Code
		detail string
		effect toolabi.EffectState
		says   string
	}{
		"breaks off":         {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", 100, 100, nil, unavailable, "closed", unknown, "nothing of it was kept"},
		"no last chunk":      {chunkedHead + "2\r\nok\r\n", 100, 100, nil, unavailable, "closed", unknown, "nothing of it was kept"},
		"malformed":          {chunkedHead + "2\r\nok\r\nzz\r\n", 100, 100, nil, unavailable, "malformed", unknown, "nothing of it was kept"},
		"too long":           {"HTTP/1.1 200 OK\r\n\r\n0123456789x", 10, 100, nil, tooLarge, "status_200", applied, "over 10 bytes"},
		"says it's too long": {"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", 10, 100, nil, tooLarge, "status_200", applied, "over 10 bytes"},
		"over the quota":     {"HTTP/1.1 200 OK\r\n\r\n0123456789x", 100, 10, nil, tooLarge, "status_200", applied, "--allow-artifacts"},
		"too long after":     {zip(gzipped("0123456789x")), 50, 50, func(r *toolabi.HTTPRequest) { r.Decompress, r.ToArtifact = true, 10 }, tooLarge, "status_200", applied, "over 10 bytes"},
		"gzip cut":           {zip(gzipped("0123456789x")[:20]), 100, 100, decompressing, unavailable, "encoding", applied, "nothing of it was kept"},
		"bomb":               {zip(gzipped(strings.Repeat("\x00", 5<<20))), 10 << 20, 10 << 20, decompressing, tooLarge, "status_200", applied, "nothing of it was kept"},
	} {
		t.Run(name, func(t *testing.T) {
			s := replies(t, tt.raw)
			kept := new(shelf)
			req := post(s.url)
			req.ToArtifact = tt.limit
			if tt.ask != nil {
				tt.ask(&req)
			}
			_, err := send(t, hostfuncs.Config{}, keeping(kept, tt.quota, s.url), req)
			if e := wantError(t, err, tt.code, tt.effect); e.Detail != tt.detail || !strings.Contains(e.Message, tt.says) || len(kept.items) != 0 {
				t.Errorf("got %+v with %d artifacts", e, len(kept.items))
			}
		})
	}
}

func TestAReplyThatCannotBeKeptHasTakenPlace(t *testing.T) {
	for _, full := range []error{errors.New("no space left on device"), toolabi.NewError(toolabi.TooLarge, "no room")} {
		s := replies(t, okReply)
		req := post(s.url)
		req.ToArtifact = 100
		_, err := send(t, hostfuncs.Config{}, keeping(&shelf{full: full}, 1<<20, s.url), req)
		if e := hostfuncs.AsError(err); err == nil || e.Effect != applied || e.Detail != "status_200" || s.count() != 1 {
			t.Errorf("got %+v", e)
		}
	}
}

func TestArtifactsAreJudgedBeforeAnythingIsSent(t *testing.T) {
	const url = "http://127.0.0.1:9"
	some := new(shelf)
	some.Put(t.Context(), strings.NewReader("0123456789"))
	crowded := &shelf{count: toolabi.MaxArtifacts}
	d := nameOf("0123456789")
	for name, tt := range map[string]struct {
		c    hostfuncs.Call
		ask  func(*toolabi.HTTPRequest)
		code toolabi.Code
		says string
	}{
		"not granted to keep":      {keeping(some, 0, url), func(r *toolabi.HTTPRequest) { r.ToArtifact = 1 }, toolabi.Denied, "--allow-artifacts"},
		"not granted to send":      {keeping(some, 0, url), func(r *toolabi.HTTPRequest) { r.Body, r.BodyArtifact = nil, d }, toolabi.Denied, "--allow-artifacts"},
		"no place to keep":         {keeping(nil, 10, url), func(r *toolabi.HTTPRequest) { r.ToArtifact = 1 }, toolabi.Unsupported, ""},
		"no place to send from":    {keeping(nil, 10, url), func(r *toolabi.HTTPRequest) { r.Body, r.BodyArtifact = nil, d }, toolabi.Unsupported, ""},
		"no room":                  {keeping(some, 10, url), func(r *toolabi.HTTPRequest) { r.ToArtifact = 1 }, tooLarge, "--allow-artifacts"},
		"too many":                 {keeping(crowded, 1<<30, url), func(r *toolabi.HTTPRequest) { r.ToArtifact = 1 }, tooLarge, ""},
		"longer than any":          {keeping(some, 1<<40, url), func(r *toolabi.HTTPRequest) { r.ToArtifact = toolabi.MaxArtifact + 1 }, toolabi.Invalid, ""},
		"body and artifact":        {keeping(some, 100, url), func(r *toolabi.HTTPRequest) { r.BodyArtifact = d }, toolabi.Invalid, ""},
		"an artifact that is none": {keeping(some, 100, url), func(r *toolabi.HTTPRequest) { r.Body, r.BodyArtifact = nil, nameOf("x") }, toolabi.NotFound, ""},
		"a digest in capitals":     {keeping(some, 100, url), func(r *toolabi.HTTPRequest) { r.Body, r.BodyArtifact = nil, strings.ToUpper(d) }, toolabi.Invalid, ""},
		"a short digest":           {keeping(some, 100, url), func(r *toolabi.HTTPRequest) { r.Body, r.BodyArtifact = nil, d[:62] }, toolabi.Invalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.c.Artifacts == (*shelf)(nil) {
				tt.c.Artifacts = nil
			}
			req := post(url)
			tt.ask(&req)
			_, err := send(t, noNetwork(t), tt.c, req)
			if e := wantError(t, err, tt.code, toolabi.EffectNone); !strings.Contains(e.Message, tt.says) {
				t.Errorf("got %+v", e)
			}
		})
	}
	for _, req := range []toolabi.HTTPRequest{{Method: "GET", URL: url, BodyArtifact: d}, {Method: "HEAD", URL: url, ToArtifact: 1}} {
		_, err := fetch(t, noNetwork(t), keeping(some, 100, url), req)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
}

func TestAnArtifactIsSentWithItsLength(t *testing.T) {
	for _, size := range []int{0, 1, 2, 32 << 10, 32<<10 + 1, 3 << 20, toolabi.MaxHTTPBody + 5} {
		s := replies(t, okReply)
		from := new(shelf)
		text := strings.Repeat("x", size)
		from.Put(t.Context(), strings.NewReader(text))
		req := post(s.url)
		req.Body, req.BodyArtifact = nil, nameOf(text)
		reply, err := send(t, hostfuncs.Config{}, keeping(from, 1<<30, s.url), req)
		if err != nil || reply.Status != 200 {
			t.Fatalf("%d bytes: %+v, %v", size, reply, err)
		}
		s.mu.Lock()
		if len(s.bodies) != 1 || s.bodies[0] != text || s.requests[0].ContentLength != int64(size) {
			t.Errorf("%d bytes: %d bodies arrived, with the length %d", size, len(s.bodies), s.requests[0].ContentLength)
		}
		s.mu.Unlock()
	}
}

func TestASecretInAnArtifactIsNotFilledIn(t *testing.T) {
	s := replies(t, okReply)
	from := new(shelf)
	from.Put(t.Context(), strings.NewReader("{{secret:token}}"))
	req := post(s.url)
	req.Body, req.BodyArtifact = nil, nameOf("{{secret:token}}")
	if _, err := send(t, hostfuncs.Config{}, keeping(from, 1<<30, s.url), req); err != nil || s.bodies[0] != "{{secret:token}}" {
		t.Errorf("sent %q, %v", s.bodies, err)
	}
}

// What is damaged never arrives whole, and what is found damaged before the first byte is not sent at all.
func TestADamagedArtifactIsNeverSentToItsEnd(t *testing.T) {
	for _, size := range []int{100, 1 << 20} {
		for name, end := range map[string]error{"damaged": errors.New("its digest is another"), "shorter": io.ErrUnexpectedEOF, "longer": io.ErrShortBuffer} {
			arrived := make(chan int64, 1)
			whole := make(chan bool, 1)
			s := serveRaw(t, func(s *rawServer, c net.Conn) {
				n := &counting{Conn: c}
				whole <- s.readRequest(n)
				arrived <- n.n
			})
			from := new(shelf)
			text := strings.Repeat("x", size)
			from.Put(t.Context(), strings.NewReader(text))
			from.end = end
			req := post(s.url)
			req.Body, req.BodyArtifact = nil, nameOf(text)
			_, err := send(t, hostfuncs.Config{}, keeping(from, 1<<30, s.url), req)
			want := toolabi.EffectNone
			if size > 32<<10 {
				want = unknown
			}
			if e := wantError(t, err, toolabi.Internal, want); e.Detail != "artifact" {
				t.Errorf("%s: got %+v", name, e)
			}
			if all, n := <-whole, <-arrived; all || want == toolabi.EffectNone && n != 0 {
				t.Errorf("%s: %d bytes arrived of a request with a body of %d, the whole of it: %v", name, n, size, all)
			}
		}
	}
}

// counting counts what is read from a connection.
type counting struct {
	net.Conn
	n int64
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n += int64(n)
	return n, err
}

// stalling is an artifact that has no end before its context has.
type stalling struct {
	shelf
	begin int64
}

type untilDone struct{ ctx context.Context }

func (u untilDone) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

func (s *stalling) Open(ctx context.Context, _ toolabi.Digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.MultiReader(io.LimitReader(zeros{}, s.begin), untilDone{ctx})), 1 << 20, nil
}

func TestAnArtifactThatIsReadTooLateIsNotDamaged(t *testing.T) {
	for begin, effect := range map[int64]toolabi.EffectState{100: toolabi.EffectNone, 100_000: unknown} {
		s := serveRaw(t, func(_ *rawServer, c net.Conn) { untilGone(c) })
		c := keeping(nil, 1<<30, s.url)
		c.Artifacts = &stalling{begin: begin}
		req := post(s.url)
		req.Body, req.BodyArtifact, req.TimeoutMS = nil, nameOf(""), 400
		_, err := send(t, hostfuncs.Config{}, c, req)
		wantError(t, err, timedOut, effect)
	}
}

// blank is an artifact of zeros.
type blank struct {
	shelf
	size int64
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func (b *blank) Open(context.Context, toolabi.Digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.LimitReader(zeros{}, b.size)), b.size, nil
}

func TestArtifactsAreSentInConstantMemory(t *testing.T) {
	const size = 64 << 20
	var arrived int64
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		arrived, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(struct{ io.Reader }{c}, size), make([]byte, 64<<10))
		io.WriteString(c, okReply)
		untilGone(c)
	})
	c := keeping(nil, 1<<30, s.url)
	c.Artifacts = &blank{size: size}
	req := post(s.url)
	req.Body, req.BodyArtifact = nil, nameOf("")
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	_, err := send(t, hostfuncs.Config{}, c, req)
	runtime.ReadMemStats(&end)
	if err != nil || arrived != size {
		t.Fatalf("%d bytes arrived, %v", arrived, err)
	}
	if grown := end.TotalAlloc - start.TotalAlloc; grown > 2<<20 {
		t.Errorf("%d bytes were allocated for a body of %d", grown, size)
	}
}

func TestArtifactsPassThroughInConstantMemory(t *testing.T) {
	const size = 64 << 20
	s := serveRaw(t, func(_ *rawServer, c net.Conn) {
		io.ReadFull(c, make([]byte, 10))
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		b := make([]byte, 64<<10)
		for range size / len(b) {
			c.Write(b)
		}
		untilGone(c)
	})
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	reply, err := fetch(t, hostfuncs.Config{}, keeping(&shelf{light: true}, 1<<30, s.url), toolabi.HTTPRequest{Method: "GET", URL: s.url, ToArtifact: size})
	runtime.ReadMemStats(&end)
	if err != nil || reply.Size != size {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if grown := end.TotalAlloc - start.TotalAlloc; grown > 2<<20 {
		t.Errorf("%d bytes were allocated for a body of %d", grown, size)
	}
}
