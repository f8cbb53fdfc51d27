package hostfuncs

import "github.com/wrun-dev/wrun/toolabi"

func kvGetFunc() Func {
	return storeFunc(toolabi.FuncKVGet, toolabi.Read,
		func(req toolabi.KVGetRequest) (string, string) { return req.Store, req.Key },
		func(req toolabi.KVGetRequest) error { return judgeKey(toolabi.FuncKVGet, req.Key) },
		func(s store, req toolabi.KVGetRequest) (toolabi.KVGetReply, error) {
			e, err := s.get(req.Key)
			if err != nil || !e.found {
				return toolabi.KVGetReply{}, err
			}
			return toolabi.KVGetReply{Found: true, Value: e.value, Version: e.version()}, nil
		})
}
