package sdk

import "github.com/wrun-dev/wrun/toolabi"

// ConfigGet returns a value that the operator set for the module, by the name that Module gives it, and whether it is set. The
// module must Need toolabi.FuncConfigGet.
//
// Errors are those of toolabi.ConfigGetRequest, and toolabi.Denied in a tool that declares itself Pure.
func ConfigGet(key string) (value string, found bool, err error) {
	var reply toolabi.ConfigGetReply
	err = use(crossConfigGet, toolabi.ConfigGetRequest{Key: key}, &reply)
	return reply.Value, reply.Found, err
}
