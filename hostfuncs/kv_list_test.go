package hostfuncs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func keysOf(l toolabi.KVListReply) (keys []string) {
	for _, item := range l.Items {
		keys = append(keys, item.Key)
	}
	return keys
}

func TestKeysAreListedInOrderAndInParts(t *testing.T) {
	s := newState(t)
	c := s.call(mine)
	for _, key := range []string{"b/2", "a", "b/10", "é", "b/1", "c", "b"} {
		if _, err := s.put(c, key, "v"+key); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		req  toolabi.KVListRequest
		want []string
		more bool
	}{
		{toolabi.KVListRequest{}, []string{"a", "b", "b/1", "b/10", "b/2", "c", "é"}, false},
		{toolabi.KVListRequest{Limit: 7}, []string{"a", "b", "b/1", "b/10", "b/2", "c", "é"}, false},
		{toolabi.KVListRequest{Limit: 6}, []string{"a", "b", "b/1", "b/10", "b/2", "c"}, true},
		{toolabi.KVListRequest{Limit: 1}, []string{"a"}, true},
		{toolabi.KVListRequest{Prefix: "b/"}, []string{"b/1", "b/10", "b/2"}, false},
		{toolabi.KVListRequest{Prefix: "b/", Limit: 3}, []string{"b/1", "b/10", "b/2"}, false},
		{toolabi.KVListRequest{Prefix: "b/", Limit: 2}, []string{"b/1", "b/10"}, true},
		{toolabi.KVListRequest{Prefix: "b/", After: "b/10"}, []string{"b/2"}, false},
		{toolabi.KVListRequest{Prefix: "b/", After: "a"}, []string{"b/1", "b/10", "b/2"}, false},
		{toolabi.KVListRequest{Prefix: "b/", After: "c"}, nil, false},
		{toolabi.KVListRequest{After: "b/15"}, []string{"b/2", "c", "é"}, false},
		{toolabi.KVListRequest{After: "é"}, nil, false},
		{toolabi.KVListRequest{Prefix: "zzz"}, nil, false},
		{toolabi.KVListRequest{After: strings.Repeat("z", toolabi.MaxKVKey)}, []string{"é"}, false},
	} {
		got, err := s.list(c, tt.req)
		if err != nil || !slices.Equal(keysOf(got), tt.want) || got.More != tt.more {
			t.Errorf("list %+v = %q, more %v, %v, want %q, %v", tt.req, keysOf(got), got.More, err, tt.want, tt.more)
		}
		for _, item := range got.Items {
			if item.Value != nil || int(item.Size) != len("v"+item.Key) || item.Version != 1 {
				t.Errorf("%q is listed as %+v", item.Key, item)
			}
		}
	}
	got, err := s.list(c, toolabi.KVListRequest{Limit: 1, Values: true})
	if err != nil || string(got.Items[0].Value) != "va" || got.Items[0].Size != 2 {
		t.Errorf("with values: %+v, %v", got, err)
	}
	for _, req := range []toolabi.KVListRequest{
		{Limit: toolabi.MaxKVList + 1}, {Prefix: strings.Repeat("k", toolabi.MaxKVKey+1)}, {After: strings.Repeat("k", toolabi.MaxKVKey+1)},
	} {
		_, err := s.list(c, req)
		wantError(t, err, toolabi.Invalid, toolabi.EffectNone)
	}
}

// A list is bounded in bytes too, whatever the scan gives at a time, and says exactly whether there is more.
func TestAListIsBoundedInBytes(t *testing.T) {
	for _, scan := range []int{1, 100 << 10, 1 << 20} {
		s := newState(t)
		s.bytes = scan
		c := s.call(mine)
		big := strings.Repeat("v", toolabi.MaxKVValue)
		for i := range 20 {
			if _, err := s.put(c, fmt.Sprintf("k%02d", i), big); err != nil {
				t.Fatal(err)
			}
		}
		var all []string
		after, rounds := "", 0
		for more := true; more; rounds++ {
			got, err := s.list(c, toolabi.KVListRequest{Values: true, After: after, Limit: 1000})
			if err != nil || len(got.Items) == 0 {
				t.Fatalf("%d keys, %v", len(got.Items), err)
			}
			size := 0
			for _, item := range got.Items {
				size += len(item.Key) + len(item.Value)
			}
			if size > toolabi.MaxKVListBytes {
				t.Errorf("an answer of %d bytes", size)
			}
			all = append(all, keysOf(got)...)
			after, more = all[len(all)-1], got.More
		}
		if len(all) != 20 || rounds != 2 {
			t.Errorf("%d keys in %d rounds, want 20 in 2", len(all), rounds)
		}
		if got, err := s.list(c, toolabi.KVListRequest{Limit: 1000}); err != nil || len(got.Items) != 20 || got.More {
			t.Errorf("without values %d keys, more %v, %v", len(got.Items), got.More, err)
		}
	}
}

// Removing what was listed, and setting what comes later, shows in the next part and repeats nothing.
func TestKeysAreRemovedWhileTheyAreListed(t *testing.T) {
	s := newState(t)
	c := s.call(mine)
	for i := range 50 {
		if _, err := s.put(c, fmt.Sprintf("k%02d", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	seen, after := []string{}, ""
	for more := true; more; {
		got, err := s.list(c, toolabi.KVListRequest{Limit: 7, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range got.Items {
			if reply, err := s.remove(c, item.Key); err != nil || !reply.Found {
				t.Errorf("remove %s: %+v, %v", item.Key, reply, err)
			}
			seen, after = append(seen, item.Key), item.Key
		}
		more = got.More
	}
	if len(seen) != 50 || !slices.IsSorted(seen) {
		t.Errorf("%d keys were seen: %q", len(seen), seen)
	}
	if keys, size := s.usage("mine"); keys != 0 || size != 0 {
		t.Errorf("%d keys of %d bytes are left", keys, size)
	}
}
