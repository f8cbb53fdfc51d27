package hostfuncs

import (
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

func kvPutFunc() Func {
	f := storeFunc(toolabi.FuncKVPut, toolabi.Local,
		func(req toolabi.KVPutRequest) (string, string) { return req.Store, req.Key },
		func(req toolabi.KVPutRequest) error {
			return errors.Join(judgeKey(toolabi.FuncKVPut, req.Key), judgeValue(toolabi.FuncKVPut, req.Value))
		},
		func(s store, req toolabi.KVPutRequest) (toolabi.KVPutReply, error) {
			e, err := s.get(req.Key)
			if err != nil {
				return toolabi.KVPutReply{}, err
			}
			return s.put(req.Key, e, req.Value)
		})
	f.ShowReply = shown(versionForm)
	return f
}

func kvCASFunc() Func {
	f := storeFunc(toolabi.FuncKVCAS, toolabi.Local,
		func(req toolabi.KVCASRequest) (string, string) { return req.Store, req.Key },
		func(req toolabi.KVCASRequest) error {
			return errors.Join(judgeKey(toolabi.FuncKVCAS, req.Key), judgeValue(toolabi.FuncKVCAS, req.Value))
		},
		func(s store, req toolabi.KVCASRequest) (toolabi.KVPutReply, error) {
			e, err := s.get(req.Key)
			if err != nil {
				return toolabi.KVPutReply{}, err
			}
			if e.version() != req.Expect {
				return toolabi.KVPutReply{}, toolabi.NewError(toolabi.Conflict, fmt.Sprintf(
					"kv_cas: the key has version %d, not %d; nothing was changed", e.version(), req.Expect))
			}
			return s.put(req.Key, e, req.Value)
		})
	f.ShowReply = shown(versionForm)
	return f
}

func kvDeleteFunc() Func {
	f := storeFunc(toolabi.FuncKVDelete, toolabi.Local,
		func(req toolabi.KVDeleteRequest) (string, string) { return req.Store, req.Key },
		func(req toolabi.KVDeleteRequest) error { return judgeKey(toolabi.FuncKVDelete, req.Key) },
		func(s store, req toolabi.KVDeleteRequest) (toolabi.KVDeleteReply, error) {
			e, err := s.get(req.Key)
			if err != nil || !e.found {
				return toolabi.KVDeleteReply{}, err
			}
			return toolabi.KVDeleteReply{Found: true}, s.change(req.Key, e, nil, true)
		})
	type form struct {
		Found bool `json:"found"`
	}
	f.ShowReply = shown(func(r toolabi.KVDeleteReply) form { return form(r) })
	return f
}

// put stages a new value of a key. The versions that it stages against are those that it has seen: where somebody else was
// faster, nothing is written and the function is called again.
func (s store) put(key string, e entry, value []byte) (toolabi.KVPutReply, error) {
	if err := s.change(key, e, value, false); err != nil {
		return toolabi.KVPutReply{}, err
	}
	return toolabi.KVPutReply{Version: e.last + 1}, nil
}

// change stages the write of a key, with what it makes of the store's usage.
func (s store) change(key string, e entry, value []byte, remove bool) error {
	if s.c.Stage == nil {
		return s.missing()
	}
	if err := s.account(key, e, value, remove); err != nil {
		return err
	}
	s.c.Stage(kvSpace(s.name), key, value, remove, e.version())
	return nil
}

// shownVersion is the form in which a version is shown.
type shownVersion struct {
	Version uint64 `json:"version"`
}

func versionForm(r toolabi.KVPutReply) shownVersion { return shownVersion(r) }
