package sandbox

import (
	"fmt"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// hollowed is the version of wazero that is known to use nothing of a module's functions once it has found their code: it decodes
// and validates what it is shown, asks for the code by a digest of all bytes, and that is all. So it is shown a hollow module,
// under whose name the code of the whole one is kept. With any other version it is shown the whole module.
const hollowed = "v1.12.0"

// form is a module on its way to the compiler.
type form struct {
	digest toolabi.Digest // of the whole module
	whole  []byte         // as it is compiled; nil where its code was not read
	hollow []byte         // whole without its code; nil where the compiler is shown the whole
}

// newForm rewrites a module. The error is a *LoadError.
func newForm(b *wasm.Module, hollow bool) (f form, err error) {
	if f.whole, err = bounded(b); err != nil {
		return f, err
	}
	f.digest = toolabi.DigestOf(f.whole)
	if hollow {
		f.hollow, err = hollowOf(b, f.digest)
	}
	return f, err
}

// outlined is the form of a module whose code was not read, of which the digest of the whole is known.
func outlined(b *wasm.Module, whole toolabi.Digest) (f form, err error) {
	f.digest = whole
	f.hollow, err = hollowOf(b, whole)
	return f, err
}

// hollowOf names in the hollow module what it stands for: the whole one, and what the compiler took when that was compiled,
// since it does not validate it again.
func hollowOf(b *wasm.Module, whole toolabi.Digest) ([]byte, error) {
	return b.Hollow(bounds, toolabi.DigestOf(fmt.Appendf(nil, "%s %x", whole, uint64(coreFeatures))))
}

// shown is what the compiler is asked for the code of.
func (f form) shown() []byte {
	if f.hollow != nil {
		return f.hollow
	}
	return f.whole
}
