package sdk

import (
	"reflect"

	"github.com/wrun-dev/wrun/sdk/internal/warm"
	"github.com/wrun-dev/wrun/toolabi"
)

// ahead is what a module does while it starts so that its calls need not. The host keeps what it comes to, and most calls
// begin with that.
var ahead = warm.Work{Values: 1000}

func warmModule(m *toolabi.Manifest) { ahead.Module(m) }

func warmTool(in, out reflect.Type) {
	ahead.Input(in)
	ahead.Output(out)
}
