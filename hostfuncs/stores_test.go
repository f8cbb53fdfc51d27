package hostfuncs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// state is the state of tools in memory, with the versions that a journal keeps.
type state struct {
	t      testing.TB
	keys   map[[2]string]stateValue
	staged []func() error
	scans  int
	bytes  int // how long the items of one scan may be together
}

type stateValue struct {
	value   []byte
	version uint64
	there   bool
}

func newState(t testing.TB) *state {
	return &state{t: t, keys: map[[2]string]stateValue{}, bytes: 1 << 20}
}

// call is a use of a function by a module, which may use what is granted.
func (s *state) call(grants ...hostfuncs.KVGrant) hostfuncs.Call {
	return hostfuncs.Call{
		Module: "mine", Tool: "it", Grants: hostfuncs.Grants{KV: grants},
		Get: func(space, key string) ([]byte, uint64, bool, error) {
			v := s.keys[[2]string{space, key}]
			return bytes.Clone(v.value), v.version, v.there, nil
		},
		Stage: func(space, key string, value []byte, remove bool, expect uint64) {
			s.staged = append(s.staged, func() error {
				v := s.keys[[2]string{space, key}]
				if v.there && v.version != expect || !v.there && expect != 0 {
					return fmt.Errorf("%s %s has version %d (there: %v), not %d", space, key, v.version, v.there, expect)
				}
				s.keys[[2]string{space, key}] = stateValue{bytes.Clone(value), v.version + 1, !remove}
				return nil
			})
		},
		Scan: func(space, prefix, after string, limit int) (items []hostfuncs.Item, more bool, err error) {
			s.scans++
			size := 0
			for _, k := range slices.SortedFunc(maps.Keys(s.keys), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
				v := s.keys[k]
				if k[0] != space || !v.there || k[1] <= after || !strings.HasPrefix(k[1], prefix) {
					continue
				}
				size += len(k[1]) + len(v.value)
				if len(items) == limit || len(items) > 0 && size > s.bytes {
					return items, true, nil
				}
				items = append(items, hostfuncs.Item{Key: k[1], Value: v.value, Version: v.version})
			}
			return items, false, nil
		},
	}
}

// commit applies what was staged, as the entry of the outcome would.
func (s *state) commit() {
	s.t.Helper()
	for _, apply := range s.staged {
		if err := apply(); err != nil {
			s.t.Error(err)
		}
	}
	s.staged = nil
}

// ask uses a function and commits what it staged.
func ask[Req, Reply any](s *state, c hostfuncs.Call, name string, req Req) (Reply, error) {
	s.t.Helper()
	reply, err := use[Req, Reply](s.t.Context(), hostfuncs.Config{}, name, c, req)
	if err != nil && len(s.staged) > 0 {
		s.t.Errorf("%s failed and wants to write", name)
	}
	s.commit()
	return reply, err
}

func (s *state) put(c hostfuncs.Call, key, value string) (toolabi.KVPutReply, error) {
	return ask[toolabi.KVPutRequest, toolabi.KVPutReply](s, c, toolabi.FuncKVPut, toolabi.KVPutRequest{Key: key, Value: []byte(value)})
}

func (s *state) cas(c hostfuncs.Call, key, value string, expect uint64) (toolabi.KVPutReply, error) {
	return ask[toolabi.KVCASRequest, toolabi.KVPutReply](s, c, toolabi.FuncKVCAS, toolabi.KVCASRequest{Key: key, Value: []byte(value), Expect: expect})
}

func (s *state) get(c hostfuncs.Call, key string) (toolabi.KVGetReply, error) {
	return ask[toolabi.KVGetRequest, toolabi.KVGetReply](s, c, toolabi.FuncKVGet, toolabi.KVGetRequest{Key: key})
}

func (s *state) remove(c hostfuncs.Call, key string) (toolabi.KVDeleteReply, error) {
	return ask[toolabi.KVDeleteRequest, toolabi.KVDeleteReply](s, c, toolabi.FuncKVDelete, toolabi.KVDeleteRequest{Key: key})
}

func (s *state) list(c hostfuncs.Call, req toolabi.KVListRequest) (toolabi.KVListReply, error) {
	return ask[toolabi.KVListRequest, toolabi.KVListReply](s, c, toolabi.FuncKVList, req)
}

// usage is what the store's record says, and has to be what its keys are.
func (s *state) usage(store string) (keys, size uint64) {
	s.t.Helper()
	var u struct {
		Keys  uint64 `cbor:"1,keyasint"`
		Bytes uint64 `cbor:"2,keyasint"`
	}
	record := s.keys[[2]string{"kv-usage", store}]
	if record.there {
		if err := toolabi.Decode(record.value, &u); err != nil {
			s.t.Fatal(err)
		}
	}
	for k, v := range s.keys {
		if k[0] == "kv:"+store && v.there {
			keys, size = keys+1, size+uint64(len(k[1])+len(v.value))
		}
	}
	if u.Keys != keys || u.Bytes != size {
		s.t.Errorf("the record of store %s says %d keys of %d bytes, it has %d of %d", store, u.Keys, u.Bytes, keys, size)
	}
	return keys, size
}

// keeper keeps artifacts in memory. pending are those that others have put meanwhile.
type keeper struct {
	blobs   map[toolabi.Digest][]byte
	pending uint64
	puts    int
	reads   int64
	bad     error // what a reader ends with
}

func newKeeper() *keeper { return &keeper{blobs: map[toolabi.Digest][]byte{}} }

func (k *keeper) call(granted uint64) hostfuncs.Call {
	return hostfuncs.Call{Module: "mine", Grants: hostfuncs.Grants{Artifacts: granted}, Artifacts: k}
}

func (k *keeper) Put(_ context.Context, r io.Reader) (toolabi.Digest, int64, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return toolabi.Digest{}, 0, err
	}
	k.puts++
	d := toolabi.Digest(sha256.Sum256(b))
	k.blobs[d] = b
	return d, int64(len(b)), nil
}

func (k *keeper) Open(_ context.Context, d toolabi.Digest) (io.ReadCloser, int64, error) {
	b, ok := k.blobs[d]
	if !ok {
		return nil, 0, toolabi.NewError(toolabi.NotFound, "none")
	}
	var r io.Reader = bytes.NewReader(b)
	if k.bad != nil {
		r = io.MultiReader(r, broken{k.bad})
	}
	return io.NopCloser(io.TeeReader(r, counter{&k.reads})), int64(len(b)), nil
}

func (k *keeper) Usage(context.Context) (count int, size uint64, err error) {
	for _, b := range k.blobs {
		size += uint64(len(b))
	}
	return len(k.blobs), size + k.pending, nil
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) { *c.n += int64(len(p)); return len(p), nil }

var errLost = errors.New("the disk is gone")
