package scaffold_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/internal/abivectors"
	"github.com/wrun-dev/wrun/internal/scaffold"
	"github.com/wrun-dev/wrun/internal/toolbuild"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// needClang skips a test where nothing in C can be built.
func needClang(t *testing.T) {
	t.Helper()
	_, err := toolbuild.FindClang(t.Context())
	var missing *toolbuild.MissingError
	if errors.As(err, &missing) {
		t.Skipf("SKIPPED, TOOLS IN C NOT TRIED: %v; %s", err, missing.Get)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// guest is a module that is called.
type guest struct {
	box    *sandbox.Sandbox
	digest toolabi.Digest
}

func load(t *testing.T, wasm []byte) guest {
	t.Helper()
	g := guest{digest: toolabi.DigestOf(wasm)}
	var err error
	g.box, err = sandbox.New(t.Context(), sandbox.Config{
		Source: func(context.Context, toolabi.Digest) ([]byte, error) { return wasm, nil }, CacheDir: wasmtest.CodeCache(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.box.Close(context.Background()) })
	return g
}

// call calls a tool with a value as its input and reads its output into a value.
func (g guest) call(t *testing.T, tool string, in, out any) *toolabi.Error {
	t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := g.box.Invoke(t.Context(), toolabi.Invocation{Module: g.digest, Tool: tool, Input: input}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Err != nil {
		return outcome.Err
	}
	if err := json.Unmarshal(outcome.Output, out); err != nil {
		t.Fatalf("%v in %.200s", err, outcome.Output)
	}
	return nil
}

// vectorGuest builds testdata/vectors with wrun.h.
func vectorGuest(t *testing.T) guest {
	t.Helper()
	needClang(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/vectors")); err != nil {
		t.Fatal(err)
	}
	header := files(t, scaffold.C, "vectors")["wrun.h"]
	if err := os.WriteFile(filepath.Join(dir, "wrun.h"), []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, build(t, dir))
}

func vectors(t *testing.T) []abivectors.Vector { return abivectors.Read(t, "../../testdata/abi") }

// answer is what the guest says of a message.
type answer struct{ refused, cbor, holds string }

func (a *answer) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &a.refused)
	}
	return json.Unmarshal(b, &[]*string{&a.cbor, &a.holds})
}

func (g guest) try(t *testing.T, asked [][2]string) (answers []answer) {
	t.Helper()
	for part := range slices.Chunk(asked, 2000) {
		var some []answer
		if err := g.call(t, "try", part, &some); err != nil {
			t.Fatal(err)
		}
		if len(some) != len(part) {
			t.Fatalf("%d answers to %d", len(some), len(part))
		}
		answers = append(answers, some...)
	}
	return answers
}

func TestHeaderForC(t *testing.T) {
	g := vectorGuest(t)
	t.Run("the vectors hold", func(t *testing.T) { theVectorsHold(t, g) })
	t.Run("other bytes are taken as in Go", func(t *testing.T) { otherBytesAreTakenAsInGo(t, g) })
	t.Run("JSON is read as in Go", func(t *testing.T) { jsonIsReadAsInGo(t, g) })
}

// The vectors hold for wrun.h as they do for package toolabi.
func theVectorsHold(t *testing.T, g guest) {
	all := vectors(t)
	var asked [][2]string
	for _, v := range all {
		asked = append(asked, [2]string{v.Message, v.CBOR})
	}
	for i, got := range g.try(t, asked) {
		v := all[i]
		if v.Refused != "" {
			if got.refused != v.Refused {
				t.Errorf("%s: refused as %q, want %q", v.Name, got.refused, v.Refused)
			}
			continue
		}
		want := v.Of(t)
		if got.refused != "" || got.cbor != v.CBOR || got.holds != holds(reflect.ValueOf(want).Elem()) {
			t.Errorf("%s: %+v, want\n%s holding\n%s", v.Name, got, v.CBOR, holds(reflect.ValueOf(want).Elem()))
		}
	}
}

// What is taken in C is what toolabi takes, whatever the bytes: each vector with bytes changed, put in, taken out, and cut off.
func otherBytesAreTakenAsInGo(t *testing.T, g guest) {
	r := rand.New(rand.NewPCG(1, 2))
	var asked [][2]string
	for _, v := range vectors(t) {
		b := v.Bytes(t)
		if len(b) > 2000 {
			continue
		}
		for range 60 {
			asked = append(asked, [2]string{v.Message, hex.EncodeToString(mutated(r, b))})
		}
	}
	taken := 0
	for i, got := range g.try(t, asked) {
		message, text := asked[i][0], asked[i][1]
		b, _ := hex.DecodeString(text)
		want := abivectors.Messages[message]()
		err := toolabi.Decode(b, want)
		if (err == nil) != (got.refused == "") {
			t.Errorf("%s %s: refused as %q, toolabi says %v", message, text, got.refused, err)
			continue
		}
		if err == nil {
			taken++
			if got.cbor != text || got.holds != holds(reflect.ValueOf(want).Elem()) {
				t.Errorf("%s %s: %+v, want %s", message, text, got, holds(reflect.ValueOf(want).Elem()))
			}
		}
	}
	if taken < 100 {
		t.Errorf("of %d messages %d were taken, which tries little", len(asked), taken)
	}
}

// What is JSON in C is JSON in Go, but for half of a surrogate pair, which wrun refuses in inputs; and it says the same.
func jsonIsReadAsInGo(t *testing.T, g guest) {
	texts := []string{
		"", " ", "{}", "[]", " [ ] ", "{ }", "[1]", "[1,2,3]", "[1,]", "[,1]", "[1 2]", `{"a":1}`, `{"a":1,}`, `{"a" : [ {"b":null} , true, false ] }`, `{"a"}`, `{"a":}`,
		`{a:1}`, `{1:1}`, "0", "-0", "00", "-", "1.", ".5", "1.5", "1e", "1e+", "1E-7", "1e400", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"nul", "null", "nulll", "True", `"`, `""`, `"a`, `"\"`, `"\u00e9\n\/"`, `"\x"`, `"\u12"`, `"\ud83d\ude00"`, "\"\t\"", "\"\x7f\"", "\"\xff\"", "\"é\"", "\"a\x00b\"", "[[[[]]]]", "[[[[]]]", "]", "}", "[}", "{]", "1 1", "[1]x",
		strings.Repeat("[", 512) + strings.Repeat("]", 512),
	}
	exactly := map[string]string{
		"9223372036854775807": "9223372036854775807", "9223372036854775808": `"?"`, "-9223372036854775808": "-9223372036854775808",
		"-9223372036854775809": `"?"`, "-0": "0", "1.5": `"?"`, "1e2": `"?"`, `"\u00e9\n\/"`: `"é\u000a/"`, `"\ud83d\ude00"`: `"😀"`, `"\ud83d"`: `"?"`,
		`"\ude00\ud83d"`: `"?"`, ` {"\u0061" : [true, null ] } `: `{"a":[true,null]}`, `{"a":1,"b":{"c":[]}}`: `{"a":1,"b":{"c":[]}}`,
	}
	texts = slices.AppendSeq(texts, maps.Keys(exactly))
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range slices.Clone(texts) {
		for range 40 {
			if len(text) < 100 {
				texts = append(texts, string(mutated(r, []byte(text))))
			}
		}
	}
	texts = append(texts, strings.Repeat("[", 513)+strings.Repeat("]", 513)) // over WRUN_JSON_DEPTH
	var asked []string
	for _, text := range texts {
		asked = append(asked, hex.EncodeToString([]byte(text)))
	}
	var said []any
	if err := g.call(t, "json", asked, &said); err != nil || len(said) != len(asked) {
		t.Fatal(len(said), err)
	}
	for i, text := range texts {
		valid := json.Valid([]byte(text)) && utf8.ValidString(text) && i < len(texts)-1
		got, taken := said[i].(string)
		if taken != valid {
			t.Errorf("%.80q is JSON: %v, want %v", text, taken, valid)
			continue
		}
		if want, ok := exactly[text]; ok && got != want {
			t.Errorf("%q says %s, want %s", text, got, want)
		}
		if want := plain(text); valid && want != "" && got != want {
			t.Errorf("%q says %s, want %s", text, got, want)
		}
	}
}

// plain writes JSON again as the guest does, "" where it holds what the guest does not read.
func plain(text string) string {
	var b bytes.Buffer
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || toolabi.StrictJSON([]byte(text)) != nil {
		return ""
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil || strings.Contains(b.String(), `\u`) || strings.ContainsAny(b.String(), "\b\f") {
		return ""
	}
	if strings.ContainsAny(text, ".eE") || strings.Contains(text, "-0") || strings.Count(text, ":") > 1 || len(text) > 18 {
		return "" // numbers that are not whole, and members in another order
	}
	return strings.NewReplacer(`\n`, `\u000a`, `\t`, `\u0009`, `\r`, `\u000d`).Replace(strings.TrimSpace(b.String()))
}

// mutated changes a message in one or two places.
func mutated(r *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	interesting := []byte{0, 1, 0x17, 0x18, 0x19, 0x1b, 0x1f, 0x20, 0x38, 0x40, 0x41, 0x60, 0x61, 0x7f, 0x80, 0x81, 0xa0, 0xa1, 0xbf, 0xc0, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9, 0xff}
	for range 1 + r.IntN(2) {
		if len(b) == 0 {
			return append(b, interesting[r.IntN(len(interesting))])
		}
		at := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = interesting[r.IntN(len(interesting))]
		case 2:
			b = slices.Insert(b, at, interesting[r.IntN(len(interesting))])
		case 3:
			b = slices.Delete(b, at, at+1)
		case 4:
			b[at]++
		}
	}
	return b
}

// holds says what a message holds: its fields by their keys, texts and bytes in hexadecimal.
func holds(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return hex.EncodeToString([]byte(v.String()))
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Pointer:
		return holds(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return hex.EncodeToString(v.Bytes())
		}
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString(holds(v.Index(i)) + ",")
		}
		return "[" + b.String() + "]"
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			key, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("cbor"), ",")
			f := v.Field(i)
			empty := f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0
			if strings.Contains(options, "omit") && empty {
				continue
			}
			fmt.Fprintf(&b, "%s:%s,", key, holds(f))
		}
		return "{" + b.String() + "}"
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	}
	return strconv.FormatUint(v.Uint(), 10)
}
