package hostfuncs

import "github.com/wrun-dev/wrun/toolabi"

func kvListFunc() Func {
	return storeFunc(toolabi.FuncKVList, toolabi.Read,
		func(req toolabi.KVListRequest) (string, string) {
			if req.Prefix == "" {
				return req.Store, ""
			}
			return req.Store, req.Prefix + "…"
		}, judgeList, listKeys)
}

func judgeList(req toolabi.KVListRequest) error {
	switch {
	case len(req.Prefix) > toolabi.MaxKVKey, len(req.After) > toolabi.MaxKVKey:
		return invalidf("kv_list: no key is longer than %d bytes", toolabi.MaxKVKey)
	case req.Limit > toolabi.MaxKVList:
		return invalidf("kv_list: a limit of %d keys, at most %d are allowed", req.Limit, toolabi.MaxKVList)
	}
	return nil
}

func listKeys(s store, req toolabi.KVListRequest) (reply toolabi.KVListReply, err error) {
	limit := int(req.Limit)
	if limit == 0 {
		limit = toolabi.DefaultKVList
	}
	size := 0
	err = s.each(req.Prefix, req.After, limit+1, func(item Item) bool {
		listed := toolabi.KVItem{Key: item.Key, Version: item.Version, Size: uint32(len(item.Value))}
		size += len(item.Key)
		if req.Values {
			listed.Value = item.Value
			size += len(item.Value)
		}
		if len(reply.Items) == limit || size > toolabi.MaxKVListBytes {
			reply.More = true
			return false
		}
		reply.Items = append(reply.Items, listed)
		return true
	})
	return reply, err
}

// scanKeys is how many keys are read at a time, at most.
const scanKeys = 256

// each calls do for every key of the store that begins with prefix and comes behind after, in the order of their bytes, until it
// says no. About most of them are wanted.
func (s store) each(prefix, after string, most int, do func(Item) bool) error {
	if s.c.Scan == nil {
		return s.missing()
	}
	for {
		items, more, err := s.c.Scan(kvSpace(s.name), prefix, after, min(most, scanKeys))
		if err != nil {
			return err
		}
		for _, item := range items {
			if !do(item) {
				return nil
			}
			after = item.Key
		}
		if !more || len(items) == 0 {
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
}
