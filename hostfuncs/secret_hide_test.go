package hostfuncs_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// knowing returns a vault that has read values, under the names a, b, c and so on.
func knowing(t testing.TB, values ...string) *hostfuncs.Vault {
	t.Helper()
	v := hostfuncs.NewVault(func(_ context.Context, source string) ([]byte, error) {
		return []byte(values[source[len("env:")]-'a']), nil
	})
	var c hostfuncs.Call
	for i := range values {
		name := string(rune('a' + i))
		c.Grants.Secrets = append(c.Grants.Secrets, hostfuncs.SecretGrant{Name: name, Source: "env:" + name})
		if !v.Has(t.Context(), c, name) {
			t.Fatalf("%q is not read", values[i])
		}
	}
	return v
}

// awkward is a value of which every encoding makes something else.
const awkward = `sk<live>_Zß€😀/9 "q"+\n&amp;%41'~x?>>`

func TestValuesAreHiddenInEveryForm(t *testing.T) {
	mixedHex := func(s string) string {
		h := []byte(hex.EncodeToString([]byte(s)))
		for i := 0; i < len(h); i += 3 {
			h[i] = bytes.ToUpper(h[i : i+1])[0]
		}
		return string(h)
	}
	percent := func(s, format string, which func(i int) bool) string {
		var b strings.Builder
		for i := range len(s) {
			if which(i) || s[i] == '%' {
				fmt.Fprintf(&b, format, s[i])
			} else {
				b.WriteByte(s[i])
			}
		}
		return b.String()
	}
	all := func(int) bool { return true }
	some := func(i int) bool { return i%3 == 1 }
	inJSON := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b[1 : len(b)-1])
	}
	escaped := func(s string) string {
		var b strings.Builder
		for _, r := range s {
			if r > 0xffff {
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			} else {
				fmt.Fprintf(&b, `\u%04X`, r)
			}
		}
		return b.String()
	}
	entities := func(s, format string) string {
		var b strings.Builder
		for _, r := range s {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
	wrapped := func(s string) string {
		b := base64.StdEncoding.EncodeToString([]byte(s))
		return b[:20] + "\r\n" + b[20:]
	}
	latin1 := func(s string) (text string) {
		for i := range len(s) {
			text += string(rune(s[i]))
		}
		return text
	}
	for _, value := range []string{"hunter2hunter2", "12345678", awkward, " padded value\t", "two\nlines of it"} {
		v := knowing(t, value)
		core := strings.TrimSpace(value)
		for form, text := range map[string]string{
			"raw": core, "hex": hex.EncodeToString([]byte(core)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(core))), "mixed hex": mixedHex(core),
			"query": url.QueryEscape(core), "path": url.PathEscape(core),
			"%xx all": percent(core, "%%%02x", all), "%XX some": percent(core, "%%%02X", some), "%25XX": percent(core, "%%25%02X", all),
			"JSON": inJSON(core), `\/`: strings.ReplaceAll(inJSON(core), "/", `\/`), `\u`: escaped(core), "JSON in JSON": inJSON(inJSON(core)),
			"HTML": html.EscapeString(core), "&#": entities(core, "&#%d;"), "&#x": entities(core, "&#x%X;"), "&amp;#": entities(core, "&amp;#x%x;"),
			"HTML in HTML": html.EscapeString(html.EscapeString(core)),
			"CRLF":         strings.ReplaceAll(core, "\n", "\r\n"), "latin-1": latin1(core),
		} {
			in := "before " + text + " after"
			if got := string(v.Hide([]byte(in))); got != "before [secret:a] after" {
				t.Errorf("%q as %s: %q became %q", value, form, in, got)
			}
			if got := v.Find([]byte(in)); got != "a" {
				t.Errorf("%q as %s: found %q", value, form, got)
			}
		}
		for behind := range 5 {
			for after := range 4 {
				whole := []byte(strings.Repeat("u", behind) + core + strings.Repeat("z", after))
				for form, enc := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding} {
					for in, text := range map[string]string{"plain": enc.EncodeToString(whole), "query": url.QueryEscape(enc.EncodeToString(whole)), "json": strings.ReplaceAll(enc.EncodeToString(whole), "/", `\/`)} {
						got := string(v.Hide([]byte("Basic " + text)))
						if !strings.Contains(got, "[secret:a]") || len(got) > len("Basic [secret:a]")+16 {
							t.Errorf("%q in %s %s behind %d, before %d: %q became %q", value, in, form, behind, after, text, got)
						}
					}
				}
			}
		}
		if got := string(v.Hide([]byte(wrapped("user:" + core + core)))); !strings.Contains(got, "[secret:a]") {
			t.Errorf("%q in lines of base64 became %q", value, got)
		}
	}
}

func TestWhatHoldsNoValueIsTheSameBytes(t *testing.T) {
	v := knowing(t, "hunter2hunter2", awkward)
	for _, text := range []string{"", "h", "hunter2hunter", "unter2hunter2", "hunter2 hunter2", "%", `\`, "&", "%68%75", `\\\\\\\\\\\\`, "&amp;amp;amp;amp;", "HUNTER2HUNTER2", "\x00\xff"} {
		in := []byte(text)
		if got := v.Hide(in); string(got) != text || len(in) > 0 && &got[0] != &in[0] {
			t.Errorf("%q became %q, or a copy", text, got)
		}
		if got := v.Find(in); got != "" {
			t.Errorf("%q: found %q", text, got)
		}
	}
	if got := (*hostfuncs.Vault)(nil).Hide([]byte("x")); string(got) != "x" {
		t.Errorf("no vault makes %q of x", got)
	}
}

func TestOverlappingValuesAreHiddenTogether(t *testing.T) {
	v := knowing(t, "abcdefgh", "abcdefghijkl", "efghijklmnop", "cdefghij")
	for text, want := range map[string]string{
		"-abcdefgh-":         "-[secret:a]-",
		"-abcdefghijkl-":     "-[secret:b]-",
		"-abcdefghijklmnop-": "-[secret:b][secret:c]-",
		"-abcdefghij-":       "-[secret:a][secret:d]-",
		"abcdefghabcdefgh":   "[secret:a][secret:a]",
		"abcdefgabcdefgh":    "abcdefg[secret:a]",
	} {
		if got := string(v.Hide([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
		got, err := io.ReadAll(v.Hiding(iotest.OneByteReader(strings.NewReader(text))))
		if string(got) != want || err != nil {
			t.Errorf("%s byte by byte became %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestLinesOfAPrivateKeyAreHidden(t *testing.T) {
	lines := []string{"-----BEGIN PRIVATE KEY-----", strings.Repeat("MIGHAgEAMBMG", 5), strings.Repeat("CSqGSM49AgEG", 5), "q83vEg==", "-----END PRIVATE KEY-----"}
	v := knowing(t, strings.Join(lines, "\n")+"\n")
	for text, want := range map[string]string{
		strings.Join(lines, "\n"):                       "[secret:a]",
		strings.Join(lines, "\r\n"):                     "[secret:a]",
		`["` + lines[1] + `","` + lines[2] + `"]`:       `["[secret:a]","[secret:a]"]`,
		lines[0] + "\n" + lines[3] + "\n" + lines[4]:    lines[0] + "\n" + lines[3] + "\n" + lines[4],
		url.QueryEscape(strings.Join(lines, "\n")):      "[secret:a]",
		strings.ReplaceAll(lines[1], "A", "%41") + " x": "[secret:a] x",
	} {
		if got := string(v.Hide([]byte(text))); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestPartsAreHiddenLikeTheWhole cuts texts at every place and at random ones.
func TestPartsAreHiddenLikeTheWhole(t *testing.T) {
	v := knowing(t, "abcabcabcabc", awkward, "hunter2hunter2")
	pieces := []string{
		"abcabcabcabc", "abc", "x", "%61bc", "hunter2hunter2", "hunter2", url.QueryEscape(awkward), awkward, html.EscapeString(awkward), "&amp;", "%", `\`,
		base64.StdEncoding.EncodeToString([]byte("u:hunter2hunter2")), hex.EncodeToString([]byte("hunter2hunter2")), "\r\n", `\u0068unter2hunter2`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		want := string(v.Hide([]byte(text)))
		for _, r := range []io.Reader{
			iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text)),
			io.MultiReader(strings.NewReader(text[:len(text)/2]), strings.NewReader(text[len(text)/2:])),
		} {
			got, err := io.ReadAll(v.Hiding(r))
			if string(got) != want || err != nil {
				t.Fatalf("%q in parts became %q, %v, want %q", text, got, err, want)
			}
		}
	}
}

func TestAHidingReaderPassesErrorsOn(t *testing.T) {
	v := knowing(t, "hunter2hunter2")
	broken := errors.New("broken off")
	got, err := io.ReadAll(v.Hiding(io.MultiReader(strings.NewReader("a hunter2hunter2 and hunter2hunte"), iotest.ErrReader(broken))))
	if string(got) != "a [secret:a] and hunter2hunte" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAHidingReaderHoldsLittleBack(t *testing.T) {
	v := knowing(t, strings.Repeat("ab", 20))
	for _, text := range []repeating{"x%61&amp;", "abababx", "ab"} {
		source := &counted{r: io.LimitReader(text, 1<<20)}
		r := v.Hiding(source)
		n, err := io.ReadFull(r, make([]byte, 10))
		if text != "ab" && (n < 10 || err != nil || source.n > 256<<10) {
			t.Errorf("%q: %d bytes, %v after %d were read", text, n, err, source.n)
		}
		if text == "ab" && n != 10 { // one mark, in which all the rest is swallowed
			t.Errorf("%q: %d bytes, %v", text, n, err)
		}
	}
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// repeating repeats itself.
type repeating string

func (e repeating) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func FuzzHide(f *testing.F) {
	f.Add("hunter2hunter2", "x hunter2hunter2 y", uint8(3))
	f.Add(awkward, url.QueryEscape(awkward), uint8(1))
	f.Add("%%%%%%%%", "%25%25%25%25%25%25%25%25%25", uint8(2))
	f.Fuzz(func(t *testing.T, value, text string, size uint8) {
		grant := hostfuncs.SecretGrant{Name: "a", Source: "env:X"}
		v := hostfuncs.NewVault(func(context.Context, string) ([]byte, error) { return []byte(value), nil })
		if !v.Has(t.Context(), hostfuncs.Call{Grants: hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{grant}}}, "a") {
			return
		}
		core := strings.TrimSpace(value)
		whole := text + core + text
		want := v.Hide([]byte(whole))
		if bytes.Contains(want, []byte(core)) && !strings.Contains("[secret:a]", core) {
			t.Errorf("%q is left in %q", core, want)
		}
		chunk := int(size)%17 + 1
		var parts []io.Reader
		for rest := whole; rest != ""; rest = rest[min(chunk, len(rest)):] {
			parts = append(parts, strings.NewReader(rest[:min(chunk, len(rest))]))
		}
		got, err := io.ReadAll(v.Hiding(io.MultiReader(parts...)))
		if !bytes.Equal(got, want) || err != nil {
			t.Errorf("%q without %q in parts of %d is %q, %v; want %q", whole, value, chunk, got, err, want)
		}
	})
}

func BenchmarkHide(b *testing.B) {
	v := knowing(b, "sk_live_51HqWzLkJd83Hd93jdKd", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
	random := rand.NewChaCha8([32]byte{1})
	raw := make([]byte, 8<<20)
	random.Read(raw)
	for name, body := range map[string][]byte{
		"binary": raw, "base64": []byte(base64.StdEncoding.EncodeToString(raw[:6<<20])),
		"json":    bytes.Repeat([]byte(`{"id":"ch_1234","amount":1250,"description":"A \"quoted\" text","url":"https://example.com/%7Euser?a=b&amp;c"},`), (8<<20)/110),
		"percent": bytes.Repeat([]byte("%41"), (8<<20)/3),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				v.Hide(body)
			}
		})
		b.Run(name+"/reader", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				io.Copy(io.Discard, v.Hiding(bytes.NewReader(body)))
			}
		})
	}
}

// A value that repeats itself, in a text that repeats it, is a match that begins anew at every byte. What is left of it is not what
// is looked for here: of a text for which the patience does not last, all that follows is taken for the value.
func TestAValueThatRepeatsItselfCostsNoMoreThanItsText(t *testing.T) {
	many, nearly := strings.Repeat("ab", 4096), strings.Repeat("ab", 4095)+"c"
	for name, tt := range map[string]struct{ value, text string }{
		"the value":     {many, many},
		"nearly it":     {many, nearly},
		"with escapes":  {many, strings.ReplaceAll(nearly, "b", "%2562")},
		"many readings": {strings.Repeat(`\`, 4000) + "end", strings.Repeat(`\`, 8000)},
	} {
		t.Run(name, func(t *testing.T) {
			v := knowing(t, tt.value)
			const length = 1 << 20
			text := "begin " + strings.Repeat(tt.text, length/len(tt.text)) + " an end"
			whole := string(v.Hide([]byte(text)))
			if !strings.HasPrefix(whole, "begin ") || !strings.HasSuffix(whole, "[secret:a]") {
				t.Errorf("became %.40q…%q", whole, whole[len(whole)-20:])
			}
			if got := v.Find([]byte(text)); got != "a" {
				t.Errorf("found %q", got)
			}
			got, err := io.ReadAll(v.Hiding(strings.NewReader(text)))
			if !strings.HasSuffix(string(got), "[secret:a]") || err == nil {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		})
	}
}

// The time that it takes to read a reply in small parts is not held against it.
func TestAValueThatComesByteByByteIsHidden(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	digits := make([]byte, 8000)
	for i := range digits {
		digits[i] = byte('a' + random.IntN(26))
	}
	value := string(digits)
	v := knowing(t, value)
	text := strings.Repeat("x "+value, 40)
	got, err := io.ReadAll(v.Hiding(iotest.OneByteReader(strings.NewReader(text))))
	if want := strings.Repeat("x [secret:a]", 40); string(got) != want || err != nil {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}
