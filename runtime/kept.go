package runtime

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// kept is what a run's log keeps beside the outcomes of its steps, folded from its results: the artifacts that they refer to,
// and the versions of files. The blobs of modules and of long bodies are none of it, and neither is what other runs made.
//
// A result is added when it takes its place in the log, on the disk or behind what waits, and taken back with it. What a step
// is about to keep is held apart until then.
type kept struct {
	mu       sync.Mutex
	named    map[journal.Digest]int    // guarded by mu: how many results refer to it
	sizes    map[journal.Digest]uint64 // guarded by mu: in bytes, as far as they are known
	unsized  map[journal.Digest]bool   // guarded by mu: those of named that are not in sizes
	bytes    uint64                    // guarded by mu: how long those of named are together that are in sizes
	versions []keptVersion             // guarded by mu, in the order of the log
	files    map[string]journal.Digest // guarded by mu: what versions leave of each path
	puts     []put                     // guarded by mu: not in a result yet, in the order in which they ended
	vain     map[journal.Digest]bool   // guarded by mu: what was put and came into no result
	wasted   uint64                    // guarded by mu: how long those of vain are together
	weight   weight                    // guarded by mu
	broken   error                     // guarded by mu: a result that should say what became of a file and does not
}

// keptVersion is a version of a file, and the result that says so.
type keptVersion struct {
	step journal.Step
	hostfuncs.Version
}

// put is an artifact that a step has stored.
type put struct {
	by     *holding
	digest journal.Digest
}

func newKept(counted bool) *kept {
	return &kept{
		weight: weight{counted: counted},
		named:  map[journal.Digest]int{}, sizes: map[journal.Digest]uint64{}, unsized: map[journal.Digest]bool{}, vain: map[journal.Digest]bool{},
		files: map[string]journal.Digest{},
	}
}

// add folds the log's next entry.
func (k *kept) add(e journal.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.weight.add(e)
	if e.Kind != journal.Result {
		return
	}
	for d := range distinct(e.Refs) {
		if k.named[d]++; k.named[d] > 1 {
			continue
		}
		n, ok := k.sizes[d]
		if ok {
			k.bytes += n
		} else {
			k.unsized[d] = true
		}
		if k.vain[d] { // not any more
			delete(k.vain, d)
			k.wasted -= n
		}
	}
	v, ok, err := versionOf(e)
	if err != nil && k.broken == nil {
		k.broken = err
	}
	if ok {
		k.versions = append(k.versions, keptVersion{e.Step, v})
		k.leave(v)
	}
}

// entries is what the entries take, in bytes. What was taken back stays counted, in a process that went on.
func (k *kept) entries() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.weight.bytes
}

// leave is called with mu held.
func (k *kept) leave(v hostfuncs.Version) {
	if v.Removed {
		delete(k.files, v.Path)
	} else {
		k.files[v.Path] = journal.Digest(v.Artifact)
	}
}

// without returns how many files there are of each digest, but for the one of a path.
func (k *kept) without(path string) map[journal.Digest]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	many := make(map[journal.Digest]int, len(k.files))
	for at, d := range k.files {
		if at != path {
			many[d]++
		}
	}
	return many
}

// forget takes back an entry that was added and then not appended after all.
func (k *kept) forget(e journal.Entry) {
	if e.Kind != journal.Result {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for d := range distinct(e.Refs) {
		if k.named[d]--; k.named[d] > 0 {
			continue
		}
		delete(k.named, d)
		if k.unsized[d] {
			delete(k.unsized, d)
		} else {
			k.bytes -= k.sizes[d]
		}
	}
	before := len(k.versions)
	k.versions = slices.DeleteFunc(k.versions, func(v keptVersion) bool { return v.step == e.Step })
	if len(k.versions) < before {
		clear(k.files)
		for _, v := range k.versions {
			k.leave(v.Version)
		}
	}
}

func distinct(refs []journal.Digest) map[journal.Digest]bool {
	all := make(map[journal.Digest]bool, len(refs))
	for _, d := range refs {
		all[d] = true
	}
	return all
}

// versionOf is what a result says about a file; ok is false where it says nothing of one.
func versionOf(e journal.Entry) (v hostfuncs.Version, ok bool, err error) {
	if e.Outcome != journal.OK {
		return v, false, nil
	}
	switch e.Name {
	case toolabi.FuncWorkspaceWrite:
		var reply toolabi.WorkspaceWriteReply
		err = toolabi.Decode(e.Body, &reply)
		digest, right := toolabi.ParseDigest(reply.Artifact)
		if err == nil && !right {
			err = fmt.Errorf("its artifact is %.80q", reply.Artifact)
		}
		v = hostfuncs.Version{Path: reply.Path, Artifact: digest}
	case toolabi.FuncWorkspaceRemove:
		var reply toolabi.WorkspaceRemoveReply
		err = toolabi.Decode(e.Body, &reply)
		v = hostfuncs.Version{Path: reply.Path, Removed: true}
	default:
		return v, false, nil
	}
	if err != nil {
		return v, false, fmt.Errorf("%w: the result of %s (%s) cannot be read: %w", journal.ErrDamaged, e.Step, e.Name, err)
	}
	return v, true, nil
}

// fault says why the fold cannot be relied on, or nil.
func (k *kept) fault() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken
}

// history returns the versions of files, in the order of the log.
func (k *kept) history() []hostfuncs.Version {
	k.mu.Lock()
	defer k.mu.Unlock()
	versions := make([]hostfuncs.Version, len(k.versions))
	for i, v := range k.versions {
		versions[i] = v.Version
	}
	return versions
}

// hold notes what a step has stored.
func (k *kept) hold(by *holding, d journal.Digest, size uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.unsized[d] { // else measured notes it
		k.sizes[d] = size
	}
	if !slices.Contains(k.puts, put{by, d}) {
		k.puts = append(k.puts, put{by, d})
	}
}

// release ends what hold began: what the step stored is in its result, or belongs to nothing. Then it still takes up the disk until
// somebody collects what belongs to nothing.
func (k *kept) release(by *holding) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.puts = slices.DeleteFunc(k.puts, func(p put) bool {
		if p.by == by && k.named[p.digest] == 0 && !k.vain[p.digest] {
			k.vain[p.digest] = true
			k.wasted += k.sizes[p.digest]
		}
		return p.by == by
	})
}

// inVain is how much was stored, since the run is driven, of what came into no result.
func (k *kept) inVain() (count int, bytes uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.vain), k.wasted
}

// has says whether an artifact is the run's as the step sees it: with what the step itself has stored.
func (k *kept) has(by *holding, d journal.Digest) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.named[d] > 0 || slices.Contains(k.puts, put{by, d})
}

// held returns what the step has stored, in the order in which it did.
func (k *kept) held(by *holding) (digests []journal.Digest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.puts {
		if p.by == by {
			digests = append(digests, p.digest)
		}
	}
	return digests
}

// usage is how many artifacts count against a step, and how many bytes they are: the run's, and what steps have stored that are
// under way. What others stored after the step's own last does not count, so that of two which come to a cap at once the first one
// keeps to it. unsized are artifacts of which it has to be known first how long they are.
func (k *kept) usage(by *holding) (count int, bytes uint64, unsized []journal.Digest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(k.puts)
	for i, p := range k.puts {
		if p.by == by {
			last = i + 1
		}
	}
	count, bytes = len(k.named), k.bytes
	more := map[journal.Digest]bool{}
	for _, p := range k.puts[:last] {
		if k.named[p.digest] == 0 && !more[p.digest] {
			more[p.digest] = true
			count, bytes = count+1, bytes+k.sizes[p.digest]
		}
	}
	return count, bytes, slices.Collect(maps.Keys(k.unsized))
}

// size returns how long an artifact is, where that is known.
func (k *kept) size(d journal.Digest) (uint64, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.sizes[d]
	return n, ok
}

// measured notes how long an artifact is.
func (k *kept) measured(d journal.Digest, n uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sizes[d] = n
	if k.unsized[d] {
		delete(k.unsized, d)
		k.bytes += n
	}
}
