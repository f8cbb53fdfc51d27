//go:build !wasip1

package sdk

import (
	"reflect"

	"github.com/wrun-dev/wrun/toolabi"
)

// Plain Go keeps its tables from one call to the next.

func warmModule(*toolabi.Manifest) {}

func warmTool(reflect.Type, reflect.Type) {}
