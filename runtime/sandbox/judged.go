package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// judgement is what reading all of a module's code has shown. It is kept once the code was compiled, and then all of the module but
// its code is read and judged each time.
//
// It gives nothing to a module that the module has not: what is shown to the compiler is made of the module's own sections, and
// only if they and the judgement are those that the code was compiled with is it found.
type judgement struct {
	code  toolabi.Digest // of the module as the compiler got it
	facts wasm.Facts     // what wasm.ParseOutline is to be told
}

// writtenJudgement is a judgement as JSON.
type writtenJudgement struct {
	Code  string     `json:"code"` // in hexadecimal digits
	Facts wasm.Facts `json:"facts"`
}

// judgements are the files of judgements in a cache, judged-1/MODULE/RULES-SUM: the digest of the module as it is, the rules that
// it was judged by, and the SHA-256 of both and of the content. Without a directory there are none.
type judgements struct{ dir, rules string }

// maxJudgement is the length of a file that is looked at, in bytes; that of a module with as many functions as the caps allow is
// far below.
const maxJudgement = 16 << 20

// judgementsIn returns the judgements of a cache under these caps.
func judgementsIn(root string, caps wasm.Caps) judgements {
	return judgements{filepath.Join(root, "judged-1"), rules(caps)}
}

// rules names what a module is judged and rewritten by, and what the compiler takes.
func rules(caps wasm.Caps) string {
	read := wasm.Rules(caps, bounds)
	return toolabi.DigestOf(fmt.Appendf(nil, "%x %x", read, uint64(coreFeatures))).String()
}

// find returns what is kept of a module, nil if nothing is. What was altered is removed.
func (j judgements) find(module toolabi.Digest) *judgement {
	if j.dir == "" {
		return nil
	}
	for _, path := range j.files(module) {
		_, sum, _ := strings.Cut(filepath.Base(path), "-")
		if content, err := readRegular(path, maxJudgement); err == nil && j.sum(module, content) == sum {
			if r, err := parseJudgement(content); err == nil {
				return r
			}
		}
		_ = os.RemoveAll(path)
	}
	return nil
}

// sum binds what a file says to what it is about.
func (j judgements) sum(module toolabi.Digest, content []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", module, j.rules)
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// keep writes a judgement, by way of a directory that the caller removes, in the place of what else these rules say of the module.
func (j judgements) keep(module toolabi.Digest, r judgement, staging string) error {
	content, err := json.Marshal(writtenJudgement{r.code.String(), r.facts})
	if err != nil {
		return err
	}
	made := filepath.Join(staging, "judgement")
	if err := os.WriteFile(made, content, 0o600); err != nil {
		return err
	}
	to := filepath.Join(j.dir, module.String(), j.rules+"-"+j.sum(module, content))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	for _, old := range j.files(module) {
		if old != to {
			_ = os.RemoveAll(old)
		}
	}
	return os.Rename(made, to)
}

// files returns the paths of what these rules say of a module.
func (j judgements) files(module toolabi.Digest) (paths []string) {
	dir := filepath.Join(j.dir, module.String())
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if rules, _, _ := strings.Cut(e.Name(), "-"); rules == j.rules {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

func parseJudgement(content []byte) (*judgement, error) {
	var w writtenJudgement
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, err
	}
	code, err := hex.DecodeString(w.Code)
	if _, end := d.Token(); err != nil || len(code) != sha256.Size || end != io.EOF {
		return nil, errAltered
	}
	return &judgement{toolabi.Digest(code), w.Facts}, nil
}

// readRegular reads a regular file of at most so many bytes, and returns errAltered for anything else: a link, a pipe.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, errAltered
	}
	return os.ReadFile(path)
}
