package hostfuncs

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// ParseKV reads a grant of a store as people write it: STORE, with :ro behind it if it may not be changed.
func ParseKV(s string) (KVGrant, error) {
	store, readOnly := strings.CutSuffix(s, ":ro")
	if !toolabi.IsStoreName(store) {
		return KVGrant{}, fmt.Errorf("%q is no name of a store: want lower-case letters, digits and inner hyphens, at most 64, and :ro behind it if it may not be changed", toolabi.CutText(s, 80))
	}
	return KVGrant{Store: store, Write: !readOnly}, nil
}

// String returns the grant in the form of ParseKV.
func (k KVGrant) String() string {
	if k.Write {
		return k.Store
	}
	return k.Store + ":ro"
}
