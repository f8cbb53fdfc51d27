package hostfuncs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

var mine = hostfuncs.KVGrant{Store: "mine", Write: true}

func TestKeysAreSetReadAndRemoved(t *testing.T) {
	s := newState(t)
	c := s.call(mine)
	wantGet := func(key, value string, version uint64) {
		t.Helper()
		got, err := s.get(c, key)
		if err != nil || got.Found != (version != 0) || string(got.Value) != value || got.Version != version {
			t.Errorf("get %q = %+v, %v, want %q in version %d", key, got, err, value, version)
		}
	}
	wantVersion := func(what string, got toolabi.KVPutReply, err error, want uint64) {
		t.Helper()
		if err != nil || got.Version != want {
			t.Errorf("%s makes version %d, %v, want %d", what, got.Version, err, want)
		}
	}
	wantGet("k", "", 0)
	v, err := s.put(c, "k", "one")
	wantVersion("put", v, err, 1)
	wantGet("k", "one", 1)
	v, err = s.put(c, "k", "")
	wantVersion("put", v, err, 2)
	wantGet("k", "", 2)
	v, err = s.cas(c, "k", "three", 2)
	wantVersion("cas", v, err, 3)
	for _, expect := range []uint64{0, 2, 4, math.MaxUint64} {
		_, err = s.cas(c, "k", "x", expect)
		wantError(t, err, toolabi.Conflict, toolabi.EffectNone)
	}
	wantGet("k", "three", 3)
	for _, found := range []bool{true, false} {
		if got, err := s.remove(c, "k"); err != nil || got.Found != found {
			t.Errorf("remove = %+v, %v, want %v", got, err, found)
		}
		wantGet("k", "", 0)
	}
	_, err = s.cas(c, "k", "x", 4)
	wantError(t, err, toolabi.Conflict, toolabi.EffectNone)
	v, err = s.cas(c, "k", "five", 0) // versions go on across a removal
	wantVersion("cas", v, err, 5)
	wantGet("k", "five", 5)
	if keys, size := s.usage("mine"); keys != 1 || size != 5 {
		t.Errorf("the store has %d keys of %d bytes", keys, size)
	}
}

// A key is any text and a value any bytes. Neither is ever a path, a line or a number.
func TestAnyTextIsAKeyAndAnyBytesAreAValue(t *testing.T) {
	s := newState(t)
	c := s.call(mine)
	nan := []byte{0x7f, 0xf0, 0, 0, 0, 0, 0, 1, 0xff, 0xf8, 0, 0, 0, 0, 0xbe, 0xef}
	keys := []string{"../x", "/etc/passwd", "a\x00b", "\n", " ", "\u202e", "é", strings.Repeat("k", toolabi.MaxKVKey), "kv:mine", "-"}
	for _, key := range keys {
		if _, err := s.put(c, key, string(nan)); err != nil {
			t.Errorf("put %.20q: %v", key, err)
		}
		if got, err := s.get(c, key); err != nil || !bytes.Equal(got.Value, nan) {
			t.Errorf("get %.20q = %x, %v", key, got.Value, err)
		}
	}
	if n, _ := s.usage("mine"); int(n) != len(keys) {
		t.Errorf("%d keys are there, want %d", n, len(keys))
	}
	for _, key := range []string{"", strings.Repeat("k", toolabi.MaxKVKey+1), strings.Repeat("k", 1<<20)} {
		for name, err := range map[string]error{"get": second(s.get(c, key)), "put": second(s.put(c, key, "")), "cas": second(s.cas(c, key, "", 0)), "delete": second(s.remove(c, key))} {
			if e := wantError(t, err, toolabi.Invalid, toolabi.EffectNone); e == nil {
				t.Errorf("%s of a key of %d bytes", name, len(key))
			}
		}
	}
	for _, write := range []func(string, string) (toolabi.KVPutReply, error){
		func(k, v string) (toolabi.KVPutReply, error) { return s.put(c, k, v) },
		func(k, v string) (toolabi.KVPutReply, error) { return s.cas(c, k, v, 0) },
	} {
		_, err := write("big", strings.Repeat("v", toolabi.MaxKVValue+1))
		wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
	}
	if _, err := s.put(c, "big", strings.Repeat("v", toolabi.MaxKVValue)); err != nil {
		t.Error(err)
	}
	// Invalid UTF-8 is no text: 0x62 is a text of two bytes.
	for _, f := range []string{toolabi.FuncKVGet, toolabi.FuncKVDelete} {
		_, err := function(t, f).Call(t.Context(), c, []byte{0xa1, 0x02, 0x62, 0xff, 0xfe})
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAStoreIsUsedWithImportManifestAndGrant(t *testing.T) {
	for _, tt := range []struct {
		name         string
		store        string
		targets      []string
		grants       []hostfuncs.KVGrant
		read, write  toolabi.Code
		says, writes string
	}{
		{"nothing", "", nil, nil, toolabi.Denied, toolabi.Denied, "(--allow-kv mine:ro)", "(--allow-kv mine)"},
		{"reading", "", nil, []hostfuncs.KVGrant{{Store: "mine"}}, 0, toolabi.Denied, "", "changing store mine is not granted (--allow-kv mine)"},
		{"its own", "", nil, []hostfuncs.KVGrant{mine}, 0, 0, "", ""},
		{"its own by its name", "mine", nil, []hostfuncs.KVGrant{mine}, 0, 0, "", ""},
		{"another one", "shared", nil, []hostfuncs.KVGrant{mine}, toolabi.Denied, toolabi.Denied, "store shared is not granted (--allow-kv shared:ro)", "(--allow-kv shared)"},
		{"another one, granted", "shared", nil, []hostfuncs.KVGrant{mine, {Store: "shared", Write: true}}, 0, 0, "", ""},
		{"beside the manifest", "shared", []string{"mine"}, []hostfuncs.KVGrant{{Store: "shared", Write: true}}, toolabi.Denied, toolabi.Denied, "manifest", "manifest"},
		{"its own beside the manifest", "", []string{"shared"}, []hostfuncs.KVGrant{mine}, toolabi.Denied, toolabi.Denied, "manifest", "manifest"},
		{"within the manifest", "shared", []string{"mine", "shared"}, []hostfuncs.KVGrant{{Store: "shared", Write: true}}, 0, 0, "", ""},
		{"no name", "../x", nil, []hostfuncs.KVGrant{{Store: "../x", Write: true}}, toolabi.Invalid, toolabi.Invalid, "no name of a store", "no name of a store"},
		{"a long name", strings.Repeat("s", 65), nil, nil, toolabi.Invalid, toolabi.Invalid, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newState(t)
			c := s.call(tt.grants...)
			c.Targets, c.Reason = tt.targets, "to count"
			requests := map[string]any{
				toolabi.FuncKVGet:    toolabi.KVGetRequest{Store: tt.store, Key: "k"},
				toolabi.FuncKVList:   toolabi.KVListRequest{Store: tt.store},
				toolabi.FuncKVPut:    toolabi.KVPutRequest{Store: tt.store, Key: "k"},
				toolabi.FuncKVCAS:    toolabi.KVCASRequest{Store: tt.store, Key: "k"},
				toolabi.FuncKVDelete: toolabi.KVDeleteRequest{Store: tt.store, Key: "k"},
			}
			for name, req := range requests {
				want, says := tt.read, tt.says
				if function(t, name).Class == toolabi.Local {
					want, says = tt.write, tt.writes
				}
				for what, err := range judgements(t, function(t, name), c, encode(t, req)) {
					if want == 0 {
						if err != nil {
							t.Errorf("%s of %s: %v", what, name, err)
						}
						continue
					}
					if e := wantError(t, err, want, toolabi.EffectNone); !strings.Contains(e.Message, says) {
						t.Errorf("%s of %s says %q, want %q in it", what, name, e.Message, says)
					}
				}
				if s.commit(); name != toolabi.FuncKVDelete && want != 0 && len(s.keys) > 0 {
					t.Errorf("%s wrote", name)
				}
				s.keys = map[[2]string]stateValue{}
			}
		})
	}
}

// Only what was granted is written, and the keys of one store are none of another.
func TestStoresAreApart(t *testing.T) {
	s := newState(t)
	a, b := s.call(hostfuncs.KVGrant{Store: "a", Write: true}), s.call(hostfuncs.KVGrant{Store: "a-b", Write: true})
	a.Module, b.Module = "a", "a-b"
	if _, err := s.put(a, "b-k", "of a"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.get(b, "k"); err != nil || got.Found {
		t.Errorf("another store has it: %+v, %v", got, err)
	}
	if got, err := s.list(b, toolabi.KVListRequest{}); err != nil || len(got.Items) != 0 || got.More {
		t.Errorf("another store lists it: %+v, %v", got, err)
	}
}

// near makes a store that is near its caps.
func near(s *state, keys, size uint64) {
	b, err := toolabi.Encode(map[uint64]uint64{1: keys, 2: size})
	if err != nil {
		s.t.Fatal(err)
	}
	s.keys[[2]string{"kv-usage", "mine"}] = stateValue{b, 7, true}
}

func TestAStoreKeepsToItsCaps(t *testing.T) {
	for _, tt := range []struct {
		name       string
		keys, size uint64
		key, value string
		ok         bool
	}{
		{"the last key", toolabi.MaxKVKeys - 1, 10, "new", "", true},
		{"one key more", toolabi.MaxKVKeys, 10, "new", "", false},
		{"a key again", toolabi.MaxKVKeys, 10, "old", "longer", true},
		{"the last byte", 5, toolabi.MaxKVStore - 4, "new", "v", true},
		{"one byte more", 5, toolabi.MaxKVStore - 3, "new", "v", false},
		{"longer than it was", 5, toolabi.MaxKVStore, "old", "longer", false},
		{"as long as it was", 5, toolabi.MaxKVStore, "old", "new", true},
		{"shorter, over the cap", 5, toolabi.MaxKVStore + 100, "old", "v", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newState(t)
			s.keys[[2]string{"kv:mine", "old"}] = stateValue{[]byte("val"), 3, true}
			near(s, tt.keys, tt.size)
			for name, write := range map[string]func() error{
				"put": func() error { _, err := s.put(s.call(mine), tt.key, tt.value); return err },
				"cas": func() error {
					_, err := s.cas(s.call(mine), tt.key, tt.value, map[string]uint64{"old": 3}[tt.key])
					return err
				},
			} {
				before := fmt.Sprint(s.keys)
				err := write()
				if tt.ok && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if !tt.ok {
					wantError(t, err, toolabi.TooLarge, toolabi.EffectNone)
					if after := fmt.Sprint(s.keys); after != before {
						t.Errorf("%s changed something", name)
					}
				}
				if tt.ok {
					break // it is there now
				}
			}
			if s.scans > 0 {
				t.Errorf("the store was counted %d times", s.scans)
			}
			if _, err := s.remove(s.call(mine), "old"); err != nil {
				t.Errorf("removing from a full store: %v", err)
			}
		})
	}
}

func TestAStoreWithoutARecordIsCounted(t *testing.T) {
	s := newState(t)
	for i := range 1000 {
		s.keys[[2]string{"kv:mine", fmt.Sprintf("k%03d", i)}] = stateValue{[]byte("v"), 1, true}
	}
	if _, err := s.put(s.call(mine), "new", "value"); err != nil {
		t.Fatal(err)
	}
	if keys, size := s.usage("mine"); keys != 1001 || size != 5008 {
		t.Errorf("%d keys of %d bytes", keys, size)
	}
}

// A record that cannot be true ends the run: it is no answer.
func TestADamagedUsageIsNoAnswer(t *testing.T) {
	for name, record := range map[string][]byte{"garbage": []byte("garbage"), "too little": encode(t, map[uint64]uint64{1: 0, 2: 0})} {
		s := newState(t)
		s.keys[[2]string{"kv:mine", "old"}] = stateValue{[]byte("v"), 3, true}
		s.keys[[2]string{"kv-usage", "mine"}] = stateValue{record, 1, true}
		if _, err := s.put(s.call(mine), "old", "longer"); !errors.Is(err, hostfuncs.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAHostWithoutStoresSaysSo(t *testing.T) {
	c := hostfuncs.Call{Module: "mine", Grants: hostfuncs.Grants{KV: []hostfuncs.KVGrant{mine}}}
	_, err := use[toolabi.KVGetRequest, toolabi.KVGetReply](t.Context(), hostfuncs.Config{}, toolabi.FuncKVGet, c, toolabi.KVGetRequest{Key: "k"})
	wantError(t, err, toolabi.Unsupported, toolabi.EffectNone)
	_, err = use[toolabi.KVListRequest, toolabi.KVListReply](t.Context(), hostfuncs.Config{}, toolabi.FuncKVList, c, toolabi.KVListRequest{})
	wantError(t, err, toolabi.Unsupported, toolabi.EffectNone)
}

// What people are shown of a use is the store and the key, and never a value.
func TestStoresAreDescribedWithoutValues(t *testing.T) {
	for name, tt := range map[string]struct {
		req  any
		want string
	}{
		toolabi.FuncKVGet:    {toolabi.KVGetRequest{Store: "s", Key: "k\x1b[31m\n2"}, "s k 2"},
		toolabi.FuncKVPut:    {toolabi.KVPutRequest{Key: "k", Value: []byte("canary")}, "k"},
		toolabi.FuncKVCAS:    {toolabi.KVCASRequest{Store: "s", Key: "k", Value: []byte("canary")}, "s k"},
		toolabi.FuncKVDelete: {toolabi.KVDeleteRequest{Key: strings.Repeat("k", 300)}, strings.Repeat("k", 200)},
		toolabi.FuncKVList:   {toolabi.KVListRequest{Store: "s", Prefix: "a/"}, "s a/…"},
	} {
		f := function(t, name)
		if got := f.Describe(encode(t, tt.req)); got != tt.want {
			t.Errorf("%s is described as %q, want %q", name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		reply any
		want  string
	}{
		toolabi.FuncKVPut:    {toolabi.KVPutReply{Version: 3}, `{"version":3}`},
		toolabi.FuncKVCAS:    {toolabi.KVPutReply{Version: 1}, `{"version":1}`},
		toolabi.FuncKVDelete: {toolabi.KVDeleteReply{}, `{"found":false}`},
	} {
		if got, err := function(t, name).ShowReply(encode(t, tt.reply)); err != nil || strings.TrimSpace(string(got)) != tt.want {
			t.Errorf("the reply of %s is shown as %s, %v, want %s", name, got, err, tt.want)
		}
		if _, err := function(t, name).ShowReply([]byte{0xff}); err == nil {
			t.Errorf("garbage is shown as a reply of %s", name)
		}
	}
}
