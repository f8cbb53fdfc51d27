package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// shelf is a server that has files and takes some.
type shelf struct {
	files  map[string]string
	status int    // that a PUT is answered with
	typ    string // of the last one
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s.files[r.URL.Path]
	switch {
	case r.Method == http.MethodPut:
		b, _ := io.ReadAll(r.Body)
		s.files[r.URL.Path], s.typ = string(b), r.Header.Get("Content-Type")
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(s.status)
	case r.URL.Path == "/moved":
		http.Redirect(w, r, "/a/data.csv", http.StatusFound)
	case r.URL.Path == "/busy":
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		http.NotFound(w, r)
	default:
		fmt.Fprint(w, body)
	}
}

func desk() (*sdktest.World, *shelf) {
	s := &shelf{files: map[string]string{"/a/data.csv": "1,2\n", "/": "root"}, status: http.StatusCreated}
	return &sdktest.World{
		HTTP: s, Files: map[string][]byte{}, Artifacts: map[string][]byte{},
		Clock:  func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) },
		Random: func(n int) []byte { return make([]byte, n) },
	}, s
}

func digest(s string) string { return toolabi.DigestOf([]byte(s)).String() }

func TestFetchBringsAFileIntoTheWorkspace(t *testing.T) {
	for input, path := range map[string]string{
		`{"url":"https://files.test/a/data.csv"}`:                                    "data.csv",
		`{"url":"https://files.test/a/data.csv?x=1","path":"in/x.csv"}`:              "in/x.csv",
		`{"url":"https://files.test/a/data.csv","sha256":"` + digest("1,2\n") + `"}`: "data.csv",
		`{"url":"https://files.test/moved","path":"data.csv","max_bytes":4}`:         "data.csv",
		`{"url":"https://files.test/"}`:                                              "download-0000000000000000",
	} {
		w, s := desk()
		text, err := sdktest.Call(t, w, "fetch", input)
		want := s.files["/a/data.csv"]
		if strings.HasPrefix(path, "download-") {
			want = "root"
		}
		var out FetchOut
		if err != nil || json.Unmarshal([]byte(text), &out) != nil || out.Path != path || out.Artifact != digest(want) || string(w.Files[path]) != want {
			t.Errorf("fetch %s: %s, %v; the workspace has %q", input, text, err, w.Files)
		}
	}
}

func TestWhatIsNotWhatWasWantedIsNotWritten(t *testing.T) {
	for input, detail := range map[string]string{
		`{"url":"https://files.test/nothing"}`:                                   "refused",
		`{"url":"https://files.test/a/data.csv","sha256":"` + digest("x") + `"}`: "digest",
		`{"url":"https://files.test/a/data.csv","path":"../x"}`:                  "path",
		`{"url":"https://files.test/a/data.csv","max_bytes":3}`:                  "status_200",
	} {
		w, _ := desk()
		_, err := sdktest.Call(t, w, "fetch", input)
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Detail != detail || len(w.Files) > 0 {
			t.Errorf("fetch %s: %v, want the detail %q; the workspace has %q", input, err, detail, w.Files)
		}
	}
	w, _ := desk()
	_, err := sdktest.Call(t, w, "fetch", `{"url":"https://files.test/busy"}`)
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Retry != toolabi.RetryAfter || e.RetryAfterMS != 7000 {
		t.Errorf("a busy server: %+v, want a retry after 7 s", e)
	}
}

func TestFetchReplacesAnotherFileOnlyWhenItIsTold(t *testing.T) {
	w, _ := desk()
	const input = `{"url":"https://files.test/a/data.csv"}`
	w.Files["data.csv"] = []byte("by hand")
	_, err := sdktest.Call(t, w, "fetch", input)
	wantFailure(t, err, "exists")
	if got := string(w.Files["data.csv"]); got != "by hand" {
		t.Errorf("what was there became %q", got)
	}
	for _, input := range []string{strings.Replace(input, "}", `,"replace":true}`, 1), input} { // then it is that file
		if _, err := sdktest.Call(t, w, "fetch", input); err != nil || string(w.Files["data.csv"]) != "1,2\n" {
			t.Errorf("fetch %s: %v, the file is %q", input, err, w.Files["data.csv"])
		}
	}
}

func TestPublishPutsAnArtifact(t *testing.T) {
	w, s := desk()
	w.Artifacts[digest("text")] = []byte("text")
	input := fmt.Sprintf(`{"url":"https://files.test/p","artifact":"%s","type":"text/plain"}`, digest("text"))
	out, err := sdktest.Call(t, w, "publish", input)
	if want := `{"url":"https://files.test/p","status":201,"size":4,"etag":"\"1\""}`; err != nil || out != want {
		t.Errorf("publish: %s, %v, want %s", out, err, want)
	}
	if s.files["/p"] != "text" || s.typ != "text/plain" {
		t.Errorf("the server has %q as %s", s.files["/p"], s.typ)
	}
	for status, effect := range map[int]toolabi.EffectState{403: toolabi.EffectNone, 503: toolabi.EffectUnknown} {
		s.status = status
		_, err := sdktest.Call(t, w, "publish", input)
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Detail != "refused" || e.Effect != effect {
			t.Errorf("status %d: %+v, want refused with effect %s", status, e, effect)
		}
	}
	_, err = sdktest.Call(t, w, "publish", strings.Replace(input, digest("text"), digest("other"), 1))
	wantFailure(t, err, "no_artifact")
}

const twoItems = `{"path":"out/report.md","title":"News <b>","items":[
	{"id":"b","url":"https://news.test/b?q=<x>","title":"B [new]","summary":"it\nis *here*"},{"id":"a","url":"javascript:alert(1)"}]}`

const reported = "# News \\<b\\>\n\n2026-03-01\n\n" +
	"* [B \\[new\\]](<https://news.test/b?q=%3Cx%3E>): it is \\*here\\*\n* a\n"

func TestReportListsItsItemsAsText(t *testing.T) {
	w, _ := desk()
	text, err := sdktest.Call(t, w, "report", twoItems)
	var out ReportOut
	if err != nil || json.Unmarshal([]byte(text), &out) != nil {
		t.Fatalf("report: %s, %v", text, err)
	}
	if got := string(w.Files["out/report.md"]); !strings.HasPrefix(got, reported) || out.Artifact != digest(got) || !isSealed([]byte(got)) {
		t.Errorf("the report is %q, want %q and a seal", got, reported)
	}
	again := fmt.Sprintf(`{"path":"copy.md","title":"News <b>","artifact":"%s"}`, out.Source)
	if text, err := sdktest.Call(t, w, "report", again); err != nil || !slices.Equal(w.Files["copy.md"], w.Files["out/report.md"]) {
		t.Errorf("of its source: %s, %v, %q", text, err, w.Files["copy.md"])
	}
}

func TestAReportIsWrittenAgainUnlessAPersonChangedIt(t *testing.T) {
	w, _ := desk()
	for range 2 {
		if _, err := sdktest.Call(t, w, "report", twoItems); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sdktest.Call(t, w, "report", `{"path":"out/report.md","title":"Other"}`); err != nil {
		t.Fatal(err)
	}
	for _, edit := range []func(string) string{
		func(s string) string { return strings.Replace(s, "Nothing", "Something", 1) },
		func(s string) string { return s + "\n" },
		func(string) string { return "" },
	} {
		file := edit(string(w.Files["out/report.md"]))
		other, _ := desk()
		other.Files["out/report.md"] = []byte(file)
		_, err := sdktest.Call(t, other, "report", twoItems)
		wantFailure(t, err, "edited")
		if got := string(other.Files["out/report.md"]); got != file {
			t.Errorf("what a person wrote became %q", got)
		}
	}
}

func TestAChangeBetweenReadingAndWritingIsNotOverwritten(t *testing.T) {
	w, _ := desk()
	w.Tools = map[string]func([]byte) ([]byte, error){renderer: func([]byte) ([]byte, error) {
		w.Files["r.md"] = []byte("by hand")
		return []byte(`{"text":"x"}`), nil
	}}
	for _, before := range []string{"", string(seal("an older one"))} {
		if delete(w.Files, "r.md"); before != "" {
			w.Files["r.md"] = []byte(before)
		}
		_, err := sdktest.Call(t, w, "report", `{"path":"r.md","title":"t","template":"x"}`)
		wantFailure(t, err, "edited")
		if got := string(w.Files["r.md"]); got != "by hand" {
			t.Errorf("what a person wrote became %q", got)
		}
	}
}

func TestATemplateIsRenderedByAnotherTool(t *testing.T) {
	w, _ := desk()
	w.Tools = map[string]func([]byte) ([]byte, error){renderer: func(in []byte) ([]byte, error) {
		want := `{"template":"{{.date}}","data":{"title":"T","date":"2026-03-01","items":[{"id":"a"}]}}`
		if string(in) != want {
			t.Errorf("it was asked %s, want %s", in, want)
		}
		return []byte(`{"text":"rendered\n\n"}`), nil
	}}
	_, err := sdktest.Call(t, w, "report", `{"path":"r.md","title":"T","template":"{{.date}}","items":[{"id":"a"}]}`)
	if got := string(w.Files["r.md"]); err != nil || !strings.HasPrefix(got, "# T\n\n2026-03-01\n\nrendered\n\n<!-- ") {
		t.Errorf("the report is %q, %v", got, err)
	}
}

func TestReportsAreMadeOfWhatIsThere(t *testing.T) {
	w, _ := desk()
	w.Artifacts[digest("text")] = []byte("text")
	for artifact, detail := range map[string]string{digest("text"): "unreadable", digest("none"): "no_artifact"} {
		_, err := sdktest.Call(t, w, "report", fmt.Sprintf(`{"path":"r.md","title":"t","artifact":"%s"}`, artifact))
		wantFailure(t, err, detail)
	}
	_, err := sdktest.Call(t, w, "report", fmt.Sprintf(`{"path":"r.md","title":"t","artifact":"%s","items":[{"id":"a"}]}`, digest("text")))
	wantFailure(t, err, "two_sources")
	if len(w.Files) > 0 {
		t.Errorf("written: %q", w.Files)
	}
}

func untidy() *sdktest.World {
	w, _ := desk()
	w.Files = map[string][]byte{"a.tmp": []byte("1"), "out/b.tmp": []byte("22"), "out/keep.tmp": nil, "out/report.md": nil}
	w.Approve = func(toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
		return toolabi.ApproveReply{By: "ann"}, nil
	}
	return w
}

const tidyInput = `{"match":"*.tmp","keep":["out/keep.tmp"]}`

func TestTidyRemovesWhatAPersonAgreedTo(t *testing.T) {
	w := untidy()
	out, err := sdktest.Call(t, w, "tidy", tidyInput)
	if want := `{"removed":["a.tmp","out/b.tmp"],"by":"ann"}`; err != nil || out != want {
		t.Errorf("tidy: %s, %v, want %s", out, err, want)
	}
	if got := slices.Sorted(maps.Keys(w.Files)); !slices.Equal(got, []string{"out/keep.tmp", "out/report.md"}) {
		t.Errorf("left are %q", got)
	}
	q := w.Questions[0]
	if want := "Remove for good: a.tmp, out/b.tmp"; q.Text != want || string(q.Detail) != `[{"path":"a.tmp","bytes":1},{"path":"out/b.tmp","bytes":2}]` {
		t.Errorf("asked %q, %s, want %q", q.Text, q.Detail, want)
	}
	if out, err := sdktest.Call(t, w, "tidy", tidyInput); err != nil || out != `{"removed":[]}` || len(w.Questions) != 1 {
		t.Errorf("with nothing to do: %s, %v, %d questions", out, err, len(w.Questions))
	}
}

func TestTidyRemovesNothingWithoutAYes(t *testing.T) {
	w := untidy()
	w.Approve = func(toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
		return toolabi.ApproveReply{}, toolabi.NewError(toolabi.Denied, "ann: not now")
	}
	if _, err := sdktest.Call(t, w, "tidy", tidyInput); !errors.Is(err, toolabi.Denied) || len(w.Files) != 4 {
		t.Errorf("got %v, and %d files are left", err, len(w.Files))
	}
	for n := range maxTidy + 1 {
		w.Files[fmt.Sprintf("many/%03d.tmp", n)] = nil
	}
	_, err := sdktest.Call(t, w, "tidy", tidyInput)
	wantFailure(t, err, "too_many")
	_, err = sdktest.Call(t, w, "tidy", `{"match":"[a"}`)
	wantFailure(t, err, "pattern")
}

func wantFailure(t *testing.T, err error, detail string) {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.Failed || e.Detail != detail {
		t.Errorf("got %v, want failed (%s)", err, detail)
	}
}
