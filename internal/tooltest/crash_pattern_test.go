package tooltest

import "testing"

func TestWhatTwoCallsHaveInCommon(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		exact bool
		fits  []string
		not   []string
	}{
		{`{"a":1,"b":"x"}`, `{"b":"x","a":1.0}`, true, []string{`{"a":1,"b":"x"}`}, []string{`{"a":2,"b":"x"}`, `{"a":1}`, `x`}},
		{`{"a":1,"b":"x"}`, `{"a":1,"b":"y"}`, false, []string{`{"a":1,"b":"z"}`, `{"a":1,"b":null}`}, []string{`{"a":2,"b":"x"}`, `{"a":1,"b":"x","c":1}`}},
		{`[1,{"t":1}]`, `[1,{"t":2}]`, false, []string{`[1,{"t":3}]`}, []string{`[2,{"t":1}]`, `[1]`}},
		{`[1]`, `[1,2]`, false, []string{`[]`, `"anything"`}, nil},
		{`{"a":1}`, `{"b":1}`, false, []string{`null`}, nil},
		{`text`, `text`, true, []string{`text`}, []string{`other`, ``}},
		{`text`, `other`, false, []string{``}, nil},
		{``, ``, true, []string{``}, []string{`null`}},
	} {
		p := common(c.a, c.b)
		if p.exact() != c.exact {
			t.Errorf("%s and %s: exact is %v", c.a, c.b, p.exact())
		}
		for _, s := range append(c.fits, c.a, c.b) {
			if !p.fits(s) {
				t.Errorf("%s and %s: %s does not fit", c.a, c.b, s)
			}
		}
		for _, s := range c.not {
			if p.fits(s) {
				t.Errorf("%s and %s: %s fits", c.a, c.b, s)
			}
		}
	}
}

// Whatever two calls are, both fit what they have in common.
func FuzzCommon(f *testing.F) {
	f.Add(`{"a":[1,"x",null]}`, `{"a":[1,"y",true]}`)
	f.Add(`1e5`, `100000`)
	f.Add("\xff", `"\ud800"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if p := common(a, b); !p.fits(a) || !p.fits(b) {
			t.Errorf("%q and %q do not fit %v", a, b, p)
		}
		if p := common(a, a); !p.exact() {
			t.Errorf("%q differs from itself", a)
		}
	})
}
