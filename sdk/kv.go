package sdk

import "github.com/wrun-dev/wrun/toolabi"

// KVGet reads a key of a store. The store that a request does not name is the module's own, which has the name that Module gives
// it. The module must Need toolabi.FuncKVGet.
//
// Errors are those of toolabi.KVGetRequest, and toolabi.Denied in a tool that declares itself Pure. A key that is not there is a
// reply and no error.
func KVGet(req toolabi.KVGetRequest) (toolabi.KVGetReply, error) {
	var reply toolabi.KVGetReply
	err := use(crossKVGet, req, &reply)
	return reply, err
}

// KVPut sets a key of a store. The write and the record of it are one: a crash leaves both or neither, and it is never made
// twice. The module must Need toolabi.FuncKVPut.
//
// Errors are those of toolabi.KVPutRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly.
func KVPut(req toolabi.KVPutRequest) (toolabi.KVPutReply, error) {
	var reply toolabi.KVPutReply
	err := use(crossKVPut, req, &reply)
	return reply, err
}

// KVCAS sets a key of a store if it has the version that is expected. The module must Need toolabi.FuncKVCAS.
//
// Errors are those of toolabi.KVCASRequest: toolabi.Conflict when it has another one. toolabi.Denied as for KVPut.
func KVCAS(req toolabi.KVCASRequest) (toolabi.KVPutReply, error) {
	var reply toolabi.KVPutReply
	err := use(crossKVCAS, req, &reply)
	return reply, err
}

// KVDelete removes a key of a store, and says whether it was there. The module must Need toolabi.FuncKVDelete.
//
// Errors are those of toolabi.KVGetRequest, and toolabi.Denied as for KVPut.
func KVDelete(req toolabi.KVDeleteRequest) (toolabi.KVDeleteReply, error) {
	var reply toolabi.KVDeleteReply
	err := use(crossKVDelete, req, &reply)
	return reply, err
}

// KVList lists keys of a store. The module must Need toolabi.FuncKVList.
//
// Errors are those of toolabi.KVGetRequest, and toolabi.Denied in a tool that declares itself Pure.
func KVList(req toolabi.KVListRequest) (toolabi.KVListReply, error) {
	var reply toolabi.KVListReply
	err := use(crossKVList, req, &reply)
	return reply, err
}
