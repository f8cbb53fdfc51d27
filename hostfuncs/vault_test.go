package hostfuncs_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

const api, other = "https://api.example", "https://other.example"

// billing is a call whose module may refer to key and spare, and has key for api.
func billing() hostfuncs.Call {
	return hostfuncs.Call{
		Module: "billing", Reason: "to charge cards", Secrets: []string{"key", "spare"},
		Grants: hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{
			{Name: "key", Source: "env:KEY", Origins: []string{api, "smtps://mail.example:465"}},
			{Name: "foreign", Source: "env:FOREIGN", Origins: []string{api}},
			{Name: "loose", Source: "env:LOOSE"},
		}},
	}
}

// reading is a vault whose sources are the keys of a map.
func reading(values map[string]string) *hostfuncs.Vault {
	return hostfuncs.NewVault(func(_ context.Context, source string) ([]byte, error) {
		if v, ok := values[source]; ok {
			return []byte(v), nil
		}
		return nil, errors.New("the environment has no such thing")
	})
}

func TestReferencesAreFilledForTheirOriginOnly(t *testing.T) {
	v := reading(map[string]string{"env:KEY": "hunter2{{secret:key}}", "env:FOREIGN": "foreign-value"})
	for _, c := range []struct {
		to, text, want string
		code           toolabi.Code
	}{
		{to: api, text: "no reference {{x}}", want: "no reference {{x}}"},
		{to: api, text: "Bearer {{secret:key}}, {{secret:key}}", want: "Bearer hunter2{{secret:key}}, hunter2{{secret:key}}"},
		{to: other, text: "no reference", want: "no reference"},
		{to: other, text: "{{secret:key}}", want: "billing wants http_send to charge cards", code: toolabi.Denied},
		{to: other, text: "{{secret:key}}", want: "(--secret key=env:KEY@https://other.example)", code: toolabi.Denied},
		{to: api, text: "{{secret:spare}}", want: "secret spare is not granted (--secret spare=SOURCE@https://api.example)", code: toolabi.Denied},
		{to: api, text: "{{secret:foreign}}", want: "manifest does not name secret foreign", code: toolabi.Denied},
		{to: api, text: "{{secret:nobody}}", want: "manifest does not name secret nobody", code: toolabi.Denied},
		{to: api, text: "{{secret:KEY}}", want: "no reference to a secret", code: toolabi.Invalid},
		{to: api, text: "{{secret:key", want: "no reference to a secret", code: toolabi.Invalid},
	} {
		got, err := v.FillFor(t.Context(), billing(), "http_send", c.to, c.text)
		if c.code == 0 {
			if got != c.want || err != nil {
				t.Errorf("%s to %s: got %q, %v, want %q", c.text, c.to, got, err, c.want)
			}
			continue
		}
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Detail != "secret" || !strings.Contains(e.Message, c.want) || got != "" {
			t.Errorf("%s to %s: got %q, %v, want %s with %q", c.text, c.to, got, err, c.code, c.want)
		}
	}
}

func TestAnExchangeNeedsEverySecretOfItsOrigin(t *testing.T) {
	values := map[string]string{"env:KEY": "hunter2hunter2"}
	v := reading(values)
	err := v.ReadyFor(t.Context(), billing(), "http_fetch", api)
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.Unavailable || e.Detail != "secret" || e.Effect != toolabi.EffectNone ||
		!strings.Contains(e.Message, "secret foreign cannot be read from env:FOREIGN") || !strings.Contains(e.Message, "--secret foreign=") {
		t.Errorf("got %v", err)
	}
	if got := v.Find([]byte("hunter2hunter2")); got != "key" {
		t.Errorf("after that %q is known", got)
	}
	if err := v.ReadyFor(t.Context(), billing(), "http_fetch", other); err != nil {
		t.Errorf("an origin that nothing is bound to: %v", err)
	}
	var none *hostfuncs.Vault
	if err := none.ReadyFor(t.Context(), billing(), "http_fetch", api); !errors.Is(err, toolabi.Unavailable) {
		t.Errorf("without a vault: %v", err)
	}
	if err := none.ReadyFor(t.Context(), billing(), "http_fetch", other); err != nil {
		t.Errorf("without a vault and secrets: %v", err)
	}
}

func TestValuesThatCannotBeHiddenAreRefused(t *testing.T) {
	for value, why := range map[string]string{
		"": "empty", "1234567": "fewer than 8", "  12345 \n": "fewer than 8", strings.Repeat("x", 8193): "more than 8192",
		"with\x00NUL and more": "NUL", "not \xff text, is it": "UTF-8",
	} {
		v := reading(map[string]string{"env:KEY": value})
		_, err := v.Value(t.Context(), billing(), "mail_send", "key", "smtps://mail.example:465")
		if !errors.Is(err, toolabi.Unavailable) || !strings.Contains(err.Error(), why) || value != "" && strings.Contains(err.Error(), value) {
			t.Errorf("%.20q: got %v, want %q", value, err, why)
		}
	}
	c := billing()
	c.Grants.Secrets[0].Source = "cmd:echo hunter2hunter2"
	_, err := reading(map[string]string{"cmd:echo hunter2hunter2": "hunter2hunter2"}).Value(t.Context(), c, "mail_send", "key", api)
	if err == nil || !strings.Contains(err.Error(), "its source holds the value") {
		t.Errorf("got %v", err)
	}
}

func TestAServerOfTheOperatorsGetsItsSecret(t *testing.T) {
	v := reading(map[string]string{"env:KEY": "hunter2hunter2"})
	c := billing()
	c.Secrets = nil // manifests have nothing to do with it
	if got, err := v.Value(t.Context(), c, "mail_send", "key", "smtps://mail.example:465"); string(got) != "hunter2hunter2" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, server := range []string{"smtp://mail.example:465", "smtps://mail.example:25", other} {
		if _, err := v.Value(t.Context(), c, "mail_send", "key", server); !errors.Is(err, toolabi.Denied) {
			t.Errorf("%s: got %v", server, err)
		}
	}
	if _, err := v.Value(t.Context(), c, "mail_send", "nobody", other); !errors.Is(err, toolabi.Denied) {
		t.Errorf("got %v", err)
	}
}

func TestASourceIsReadOnceAndByOneAtATime(t *testing.T) {
	var reads, reading atomic.Int32
	v := hostfuncs.NewVault(func(context.Context, string) ([]byte, error) {
		reads.Add(1)
		if reading.Add(1) > 1 {
			t.Error("two read at once")
		}
		defer reading.Add(-1)
		return []byte("hunter2hunter2"), nil
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if !v.Has(t.Context(), billing(), "key") {
				t.Error("it is not there")
			}
			v.Hide([]byte("hunter2hunter2"))
		})
	}
	wg.Wait()
	if n := reads.Load(); n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

func TestWhatCouldNotBeReadIsTriedAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, fail := 0, true
		v := hostfuncs.NewVault(func(context.Context, string) ([]byte, error) {
			reads++
			if fail {
				return nil, errors.New("the keyring is locked")
			}
			return []byte("hunter2hunter2"), nil
		})
		for range 3 {
			if v.Has(t.Context(), billing(), "key") {
				t.Error("it is there")
			}
		}
		if reads != 1 {
			t.Errorf("it was tried %d times at once", reads)
		}
		fail = false
		time.Sleep(time.Minute) // of the bubble
		if !v.Has(t.Context(), billing(), "key") || reads != 2 {
			t.Errorf("it is not there after a minute; %d reads", reads)
		}
	})
}

func TestOneCallersEndIsNotAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := hostfuncs.NewVault(func(ctx context.Context, _ string) ([]byte, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return []byte("hunter2hunter2"), nil
			}
		})
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := v.ReadyFor(hurried, billing(), "http_send", api); !errors.Is(err, toolabi.Unavailable) {
				t.Errorf("who was in a hurry: %v", err)
			}
		})
		synctest.Wait()
		waiting, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if err := v.ReadyFor(waiting, billing(), "http_send", api); !errors.Is(err, toolabi.Unavailable) {
			t.Errorf("who could not wait for its turn: %v", err)
		}
		if err := v.ReadyFor(t.Context(), billing(), "http_send", api); err != nil {
			t.Errorf("who had time: %v", err)
		}
		wg.Wait()
	})
}

func TestASecretSaidByAnothersProgramIsHidden(t *testing.T) {
	v := hostfuncs.NewVault(func(_ context.Context, source string) ([]byte, error) {
		if source == "env:KEY" {
			return []byte("hunter2hunter2"), nil
		}
		return nil, errors.New("program x: exit status 1: no entry beside hunter2hunter2")
	})
	err := v.ReadyFor(t.Context(), billing(), "http_send", api)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "[secret:key]") {
		t.Errorf("got %v", err)
	}
}

// A reference is short and its value may be long: what would come of many is counted before there is any of it.
func TestReferencesAreCountedBeforeTheyAreFilledIn(t *testing.T) {
	long := strings.Repeat("value of a key, ", 500)
	v := reading(map[string]string{"env:KEY": long, "env:FOREIGN": "foreign-value"})
	text := strings.Repeat(toolabi.SecretRef("key"), 20_000) // 280 kB, which would become 160 MB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := v.FillFor(t.Context(), billing(), "http_send", api, text)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, toolabi.TooLarge) || got != "" || strings.Contains(err.Error(), "value of a key") {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 {
		t.Errorf("%d bytes were made for it", made)
	}
	fits := toolabi.SecretRef("key") + strings.Repeat("x", toolabi.MaxHTTPBody-len(long))
	if got, err := v.FillFor(t.Context(), billing(), "http_send", api, fits); err != nil || len(got) != toolabi.MaxHTTPBody {
		t.Errorf("what just fits: got %d bytes, %v", len(got), err)
	}
	if _, err := v.FillFor(t.Context(), billing(), "http_send", api, fits+"x"); !errors.Is(err, toolabi.TooLarge) {
		t.Errorf("a byte more: got %v", err)
	}
}
