package sdk

import "github.com/wrun-dev/wrun/toolabi"

// SecretHas says whether a secret is granted and can be read. Its value never enters the tool: requests refer to it with
// toolabi.SecretRef. The module must Need toolabi.FuncSecretHas.
//
// Errors are those of toolabi.SecretHasRequest, and toolabi.Denied in a tool that declares itself Pure.
func SecretHas(name string) (bool, error) {
	var reply toolabi.SecretHasReply
	err := use(crossSecretHas, toolabi.SecretHasRequest{Name: name}, &reply)
	return reply.Has, err
}
