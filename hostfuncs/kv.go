package hostfuncs

import (
	"context"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// kvSpace is where the keys of a store are kept, among the states of tools. It is written into journals and never changes.
func kvSpace(store string) string { return "kv:" + store }

// store is a store of keys and values, for one use by a module that may use it.
type store struct {
	c        Call
	ctx      context.Context
	function string
	name     string
}

// storeFunc makes a function of stores. about says which store and key a request is about, judge what else there is to say
// before anything is done; do answers.
func storeFunc[Req, Reply any](
	name string, class toolabi.Class, about func(Req) (store, key string), judge func(Req) error, do func(store, Req) (Reply, error),
) Func {
	open := func(ctx context.Context, c Call, req Req) (store, error) {
		which, _ := about(req)
		s, err := openStore(ctx, c, name, which, class == toolabi.Local)
		if err == nil {
			err = judge(req)
		}
		return s, err
	}
	f := Handle(name, class, func(ctx context.Context, c Call, req Req) (reply Reply, err error) {
		s, err := open(ctx, c, req)
		if err != nil {
			return reply, err
		}
		return do(s, req)
	})
	f.Check = judged(name, func(c Call, req Req) error {
		_, err := open(context.Background(), c, req)
		return err
	})
	f.Describe = described(func(req Req) string {
		which, key := about(req)
		if which != "" {
			which += " "
		}
		return toolabi.CleanLine(which+key, 200)
	})
	return f
}

// openStore judges whether a module may use a store.
func openStore(ctx context.Context, c Call, function, name string, write bool) (store, error) {
	if name == "" {
		name = c.Module
	}
	s := store{c: c, ctx: ctx, function: function, name: name}
	if !toolabi.IsStoreName(name) {
		return s, invalidf("%s: %q is no name of a store: want lower-case letters, digits and inner hyphens", function, toolabi.CleanLine(name, 80))
	}
	if len(c.Targets) > 0 && !slices.Contains(c.Targets, name) {
		return s, toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: the module's manifest does not name store %s among its targets", function, name))
	}
	i := slices.IndexFunc(c.Grants.KV, func(g KVGrant) bool { return g.Store == name })
	switch {
	case i < 0 && write:
		return s, ungranted(c, function, "store "+name, "--allow-kv "+name)
	case i < 0:
		return s, ungranted(c, function, "store "+name, "--allow-kv "+name+":ro")
	case write && !c.Grants.KV[i].Write:
		return s, ungranted(c, function, "changing store "+name, "--allow-kv "+name)
	}
	return s, nil
}

// judgeKey says why a text is no key, or nil. What it holds is the tool's business: it is never a path or part of one.
func judgeKey(function, key string) error {
	if key == "" || len(key) > toolabi.MaxKVKey {
		return invalidf("%s: a key of %d bytes, want 1 to %d", function, len(key), toolabi.MaxKVKey)
	}
	return nil
}

func judgeValue(function string, value []byte) error {
	if len(value) > toolabi.MaxKVValue {
		return tooLargef("%s: a value of %d bytes, at most %d are allowed", function, len(value), toolabi.MaxKVValue)
	}
	return nil
}

// entry is a key of a store as it is now.
type entry struct {
	value []byte
	found bool
	last  uint64 // the version of the last write, also where that removed the key
}

// version is what a write of the key has to expect.
func (e entry) version() uint64 {
	if !e.found {
		return 0
	}
	return e.last
}

func (s store) get(key string) (e entry, err error) {
	if s.c.Get == nil {
		return e, s.missing()
	}
	e.value, e.last, e.found, err = s.c.Get(kvSpace(s.name), key)
	return e, err
}

func (s store) missing() error {
	return toolabi.NewError(toolabi.Unsupported, s.function+": this host keeps no stores")
}
