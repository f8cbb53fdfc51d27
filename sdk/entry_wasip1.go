package sdk

import (
	"context"
	"fmt"
	"os"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// What the exports return when no reply was written; the reason is on the standard error.
const (
	exitBadRequest = 1
	exitNoRoom     = 2
	exitBadModule  = 3
)

//go:wasmexport wrun_invoke
func invoke(inputLen int32) int32 {
	if inputLen < 0 {
		return refuse(exitBadRequest, "input of %d bytes", inputLen)
	}
	request := make([]byte, inputLen)
	if n := inputRead(request); n != len(request) {
		return refuse(exitBadRequest, "read %d of %d bytes of input", n, inputLen)
	}
	reply, err := registry.Default.Invoke(context.Background(), request)
	if err != nil {
		return refuse(exitBadRequest, "%v", err)
	}
	if outputWrite(reply) {
		return 0
	}
	// Nothing of a reply that does not fit was kept, so that there is room to say so.
	short := registry.EncodeFailure(toolabi.NewError(toolabi.LimitOutput, fmt.Sprintf("a reply of %d bytes is more than the call may write", len(reply))))
	if !outputWrite(short) {
		return refuse(exitNoRoom, "a reply of %d bytes is more than the call may write", len(reply))
	}
	return 0
}

//go:wasmexport wrun_abi_1
func abi1() {}

//go:wasmexport wrun_describe
func describe() int32 {
	b, err := registry.Default.Describe()
	if err != nil {
		return refuse(exitBadModule, "%v", err)
	}
	if !outputWrite(b) {
		return refuse(exitNoRoom, "a manifest of %d bytes is more than may be written", len(b))
	}
	return 0
}

func outputWrite(b []byte) bool { return importOutputWrite(at(b), uint32(len(b))) == 0 }

func refuse(code int32, format string, a ...any) int32 {
	fmt.Fprintf(os.Stderr, "wrun sdk: "+format+"\n", a...)
	return code
}
