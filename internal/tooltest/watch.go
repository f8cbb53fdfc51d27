package tooltest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// Use is one use that a tool made of a host function.
type Use struct {
	Function string
	// Target is what it wanted to reach, as targets of a manifest have it, "" for a function without targets.
	Target string
	// Secrets are the names of those that the request refers to.
	Secrets []string
	// Denied says that it was not allowed to.
	Denied bool
}

// funcs are the host functions of a stage: the standard ones, watched.
func (s *Stage) funcs() []hostfuncs.Func {
	all := s.Live.Funcs(hostfuncs.Standard(s.cfg))
	for i, f := range all {
		watched := f
		switch f.Name {
		case toolabi.FuncRandom:
			watched.Call = s.random()
		case toolabi.FuncHTTPFetch:
			watched.Call = s.reading(f.Call)
		}
		if call := watched.Call; call != nil {
			watched.Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
				s.saw(f.Name, c, req, nil)
				return call(ctx, c, req)
			}
		}
		if check := f.Check; check != nil {
			watched.Check = func(c hostfuncs.Call, req []byte) error {
				err := check(c, req)
				if err != nil || f.Name == toolabi.FuncToolCall {
					s.saw(f.Name, c, req, err)
				}
				return err
			}
		}
		all[i] = watched
	}
	return all
}

// random draws what the host is asked for from the seed of the performance.
func (s *Stage) random() func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
	return func(_ context.Context, c hostfuncs.Call, raw []byte) ([]byte, error) {
		var req toolabi.RandomRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return nil, toolabi.NewError(toolabi.Invalid, err.Error())
		}
		if req.N == 0 || req.N > toolabi.MaxRandom {
			return nil, toolabi.NewError(toolabi.Invalid, "random: want 1 byte or more, and not more than there may be")
		}
		s.mu.Lock()
		n := s.draws[c.Step]
		s.draws[c.Step]++
		s.mu.Unlock()
		var b []byte
		for i := uint32(0); len(b) < int(req.N); i++ {
			sum := sha256.Sum256(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(append([]byte{s.seed}, c.Step...), n), i))
			b = append(b, sum[:]...)
		}
		return toolabi.Encode(toolabi.RandomReply{Bytes: b[:req.N]})
	}
}

// saw remembers a use, and holds it against the world. denied is the error of one that was not allowed or is no request.
func (s *Stage) saw(function string, c hostfuncs.Call, raw []byte, refused error) {
	if c.Run != RunID {
		return
	}
	u := Use{Function: function, Denied: errors.Is(refused, toolabi.Denied)}
	u.Target, u.Secrets = target(function, c, raw)
	s.mu.Lock()
	s.uses = append(s.uses, u)
	s.mu.Unlock()
	var said *toolabi.Error
	if refused == nil || errors.As(refused, &said) && said.Detail == toolabi.DetailSecret {
		s.held(u)
	}
}

// held notes what a use is about that the world does not have.
func (s *Stage) held(u Use) {
	has := func(what string, there bool) {
		if !there {
			s.note("%s: %s, which the world of this case does not have", u.Function, what)
		}
	}
	switch {
	case strings.HasPrefix(u.Function, "kv_"):
		has("store "+u.Target, s.world.KV[u.Target] != nil)
	case u.Function == toolabi.FuncConfigGet:
		_, there := s.world.Config[u.Target]
		has("setting "+u.Target, there || s.world.Without(u.Target))
	case u.Function == toolabi.FuncSecretHas:
		_, there := s.world.Secrets[u.Target]
		has("secret "+u.Target, there || s.world.Without(u.Target))
	case u.Function == toolabi.FuncToolCall:
		module, _, _ := strings.Cut(u.Target, ".")
		has("tool "+u.Target, module == s.bench.module.Name || len(s.world.Tools[u.Target]) > 0)
	}
	for _, name := range u.Secrets {
		_, there := s.world.Secrets[name]
		has("secret "+name, there)
	}
}

// target is what a request wants to reach, and the secrets that it refers to.
func target(function string, c hostfuncs.Call, raw []byte) (string, []string) {
	switch function {
	case toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend:
		req := decoded[toolabi.HTTPRequest](raw)
		text := string(req.Body)
		for _, h := range req.Headers {
			text += "\n" + h.Value
		}
		names, _ := toolabi.SecretRefs(text)
		url, _, _ := strings.Cut(req.URL, "?")
		return req.Method + " " + url, names
	case toolabi.FuncKVGet:
		return own(c, decoded[toolabi.KVGetRequest](raw).Store), nil
	case toolabi.FuncKVPut:
		return own(c, decoded[toolabi.KVPutRequest](raw).Store), nil
	case toolabi.FuncKVCAS:
		return own(c, decoded[toolabi.KVCASRequest](raw).Store), nil
	case toolabi.FuncKVDelete:
		return own(c, decoded[toolabi.KVDeleteRequest](raw).Store), nil
	case toolabi.FuncKVList:
		return own(c, decoded[toolabi.KVListRequest](raw).Store), nil
	case toolabi.FuncConfigGet:
		return decoded[toolabi.ConfigGetRequest](raw).Key, nil
	case toolabi.FuncSecretHas:
		return decoded[toolabi.SecretHasRequest](raw).Name, nil
	case toolabi.FuncToolCall:
		return decoded[toolabi.ToolCallRequest](raw).Tool, nil
	case toolabi.FuncMailSend:
		req := decoded[toolabi.MailSendRequest](raw)
		return strings.Join(append(append(append([]string{}, req.To...), req.Cc...), req.Bcc...), ","), nil
	}
	return "", nil
}

// decoded is a request as far as it can be read; one that cannot is refused elsewhere.
func decoded[T any](raw []byte) (req T) {
	_ = toolabi.Decode(raw, &req)
	return req
}

func own(c hostfuncs.Call, store string) string {
	if store == "" {
		return c.Module
	}
	return store
}
