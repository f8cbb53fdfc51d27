package sdktest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// kvKey is a key of a store as it was when it was last looked at.
type kvKey struct {
	value   []byte
	there   bool
	version uint64 // of the last write, also where that removed the key
}

// kvStore is a store of the World, for one use of a function.
type kvStore struct {
	*stage
	function, name string
	keys           map[string][]byte
}

// store judges a use of a store as the host does.
func (s *stage) store(function, name string) (kvStore, error) {
	if name == "" {
		name = s.module.Name
	}
	if !toolabi.IsStoreName(name) {
		return kvStore{}, invalidf("%s: %.80q is no name of a store", function, name)
	}
	if targets := s.targets(function); len(targets) > 0 && !slices.Contains(targets, name) {
		return kvStore{}, toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: store %s is not among the targets of the module", function, name))
	}
	keys := s.KV[name]
	if keys == nil {
		return kvStore{}, toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s: the test's world has no store %s", function, name))
	}
	return kvStore{s, function, name, keys}, nil
}

// targets are those that the module names for a function.
func (s *stage) targets(function string) []string {
	for _, c := range s.module.Capabilities {
		if c.Name == function {
			return c.Targets
		}
	}
	return nil
}

func invalidf(format string, a ...any) error {
	return toolabi.NewError(toolabi.Invalid, fmt.Sprintf(format, a...))
}

func tooLargef(format string, a ...any) error {
	return toolabi.NewError(toolabi.TooLarge, fmt.Sprintf(format, a...))
}

// look returns a key as it is now. What the test itself changed since is a write like others.
func (s kvStore) look(key string) kvKey {
	at := [2]string{s.name, key}
	value, there := s.keys[key]
	k := s.versions[at]
	if k.there != there || !bytes.Equal(k.value, value) {
		k = kvKey{bytes.Clone(value), there, k.version + 1}
		s.keep(at, k)
	}
	return k
}

func (s *stage) keep(at [2]string, k kvKey) {
	if s.versions == nil {
		s.versions = map[[2]string]kvKey{}
	}
	s.versions[at] = k
}

// current is what kv_cas has to expect.
func (k kvKey) current() uint64 {
	if !k.there {
		return 0
	}
	return k.version
}

func (s *stage) kvGet(req toolabi.KVGetRequest) (reply toolabi.KVGetReply, err error) {
	store, err := s.storeOfKey(toolabi.FuncKVGet, req.Store, req.Key)
	if err != nil {
		return reply, err
	}
	k := store.look(req.Key)
	return toolabi.KVGetReply{Found: k.there, Value: bytes.Clone(k.value), Version: k.current()}, nil
}

// storeOfKey judges a use of a key.
func (s *stage) storeOfKey(function, name, key string) (kvStore, error) {
	store, err := s.store(function, name)
	if err == nil && (key == "" || len(key) > toolabi.MaxKVKey || !utf8.ValidString(key)) {
		err = invalidf("%s: a key of %d bytes, want a text of 1 to %d", function, len(key), toolabi.MaxKVKey)
	}
	return store, err
}

func (s *stage) kvPut(req toolabi.KVPutRequest) (reply toolabi.KVPutReply, err error) {
	store, err := s.storeOfKey(toolabi.FuncKVPut, req.Store, req.Key)
	if err != nil {
		return reply, err
	}
	return store.put(req.Key, req.Value)
}

func (s *stage) kvCAS(req toolabi.KVCASRequest) (reply toolabi.KVPutReply, err error) {
	store, err := s.storeOfKey(toolabi.FuncKVCAS, req.Store, req.Key)
	switch {
	case err != nil:
		return reply, err
	case len(req.Value) > toolabi.MaxKVValue:
		return store.put(req.Key, req.Value) // refuses it
	}
	if now := store.look(req.Key).current(); now != req.Expect {
		return reply, toolabi.NewError(toolabi.Conflict, fmt.Sprintf("kv_cas: the key has version %d, not %d; nothing was changed", now, req.Expect))
	}
	return store.put(req.Key, req.Value)
}

func (s *stage) kvDelete(req toolabi.KVDeleteRequest) (reply toolabi.KVDeleteReply, err error) {
	store, err := s.storeOfKey(toolabi.FuncKVDelete, req.Store, req.Key)
	if err != nil {
		return reply, err
	}
	k := store.look(req.Key)
	if k.there {
		delete(store.keys, req.Key)
		store.look(req.Key)
		s.Removed = append(s.Removed, req)
	}
	return toolabi.KVDeleteReply{Found: k.there}, nil
}

// put sets a key, unless that would be too much.
func (s kvStore) put(key string, value []byte) (reply toolabi.KVPutReply, err error) {
	if len(value) > toolabi.MaxKVValue {
		return reply, tooLargef("%s: a value of %d bytes, at most %d are allowed", s.function, len(value), toolabi.MaxKVValue)
	}
	k := s.look(key)
	keys, size := 0, 0
	for have, v := range s.keys {
		keys, size = keys+1, size+len(have)+len(v)
	}
	grows := len(value) - len(k.value)
	if !k.there {
		grows += len(key)
		if keys++; keys > toolabi.MaxKVKeys {
			return reply, tooLargef("%s: store %s has %d keys, and may have no more", s.function, s.name, toolabi.MaxKVKeys)
		}
	}
	if grows > 0 && size+grows > toolabi.MaxKVStore {
		return reply, tooLargef("%s: store %s would hold %d bytes, at most %d are allowed", s.function, s.name, size+grows, toolabi.MaxKVStore)
	}
	s.keys[key] = append([]byte{}, value...)
	k = kvKey{bytes.Clone(value), true, k.version + 1}
	s.stage.keep([2]string{s.name, key}, k)
	s.Puts = append(s.Puts, toolabi.KVPutRequest{Store: s.name, Key: key, Value: bytes.Clone(value)})
	return toolabi.KVPutReply{Version: k.version}, nil
}

func (s *stage) kvList(req toolabi.KVListRequest) (reply toolabi.KVListReply, err error) {
	store, err := s.store(toolabi.FuncKVList, req.Store)
	switch {
	case err != nil:
		return reply, err
	case len(req.Prefix) > toolabi.MaxKVKey, len(req.After) > toolabi.MaxKVKey, req.Limit > toolabi.MaxKVList:
		return reply, invalidf("kv_list: a limit of at most %d keys, and no key is longer than %d bytes", toolabi.MaxKVList, toolabi.MaxKVKey)
	}
	limit := int(req.Limit)
	if limit == 0 {
		limit = toolabi.DefaultKVList
	}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(store.keys)) {
		if key <= req.After || !strings.HasPrefix(key, req.Prefix) {
			continue
		}
		k := store.look(key)
		item := toolabi.KVItem{Key: key, Version: k.version, Size: uint32(len(k.value))}
		if size += len(key); req.Values {
			item.Value = bytes.Clone(k.value)
			size += len(k.value)
		}
		if len(reply.Items) == limit || size > toolabi.MaxKVListBytes {
			reply.More = true
			break
		}
		reply.Items = append(reply.Items, item)
	}
	return reply, nil
}
