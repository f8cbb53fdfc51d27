package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Fault is one thing that is wrong in a journal.
type Fault struct {
	// Run and Seq say where; Run is "" for what concerns the journal as a whole.
	Run string
	Seq uint64
	Err error
}

// Error says where and what.
func (f Fault) Error() string {
	if f.Run == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("run %s, entry %d: %v", f.Run, f.Seq, f.Err)
}

// Unwrap returns what is wrong.
func (f Fault) Unwrap() error { return f.Err }

// Verify reads a whole journal, its blobs included, and yields what is wrong in it: a broken chain, an entry that the
// rules forbid, a listing that is not what its log folds to, a blob that is missing or changed, an update of tool state
// that another one undid. It believes the store as little as it can. Other processes may append meanwhile.
//
// A run's check ends with its first broken entry. Faults wrap ErrDamaged, or the error that kept Verify from looking.
func Verify(ctx context.Context, j Journal) iter.Seq[Fault] {
	return func(yield func(Fault) bool) {
		v := verifier{blobs: map[Digest]int64{}, updates: map[Digest]bool{}, yield: yield}
		v.store, _ = j.(Blobs)
		last := ""
		for s, err := range j.List(ctx, Query{}) {
			if err != nil {
				v.fault(Fault{Err: fmt.Errorf("list the runs: %w", err)})
				return
			}
			if s.Run <= last {
				v.fault(Fault{Err: fmt.Errorf("%w: run %s is listed after %s", ErrDamaged, s.Run, last)})
			}
			last = s.Run
			if v.run(ctx, j, &s); v.done {
				return
			}
		}
	}
}

type verifier struct {
	store   Blobs            // nil when the journal has none
	blobs   map[Digest]int64 // checked already: their lengths
	updates map[Digest]bool  // (space, key, version) that a write replaced
	own     []update         // those of the run that is being read
	yield   func(Fault) bool
	done    bool
}

func (v *verifier) fault(f Fault) {
	if !v.done && !v.yield(f) {
		v.done = true
	}
}

// run folds a log anew and holds the listed state against the fold of as many entries.
func (v *verifier) run(ctx context.Context, j Journal, listed *State) {
	s := &State{Run: listed.Run}
	keys := map[stepPhase]bool{}
	imported := false
	v.own = v.own[:0]
	for e, err := range j.Read(ctx, listed.Run, 0) {
		if err != nil {
			v.fault(Fault{listed.Run, s.Len, fmt.Errorf("read: %w", err)})
			return
		}
		if err := verifyEntry(s, e, keys); err != nil {
			v.fault(Fault{listed.Run, s.Len, err})
			return
		}
		v.verifyBlobs(ctx, listed.Run, e)
		v.collectWrites(e)
		imported = imported || e.Kind == Record && e.Name == RecordImported
		if s.Len == listed.Len {
			if err := s.Same(listed); err != nil {
				v.fault(Fault{listed.Run, e.Seq, err})
			}
		}
		if v.done {
			return
		}
	}
	if !imported { // else they are of the state of another journal
		v.verifyWrites(listed.Run)
	}
	if s.Len < listed.Len {
		v.fault(Fault{listed.Run, s.Len, fmt.Errorf("%w: the log ends here, the listing says after %d", ErrDamaged, listed.Len)})
	}
}

func verifyEntry(s *State, e Entry, keys map[stepPhase]bool) error {
	before := s.Head
	if s.Len == 0 {
		before = ChainStart(s.Run)
	}
	body, err := encMode.Marshal(&e) // under the schema that it was written under
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if chain(before, body) != e.Hash {
		return fmt.Errorf("%w: it does not fit the chain of hashes", ErrDamaged)
	}
	k := stepPhase{e.Step, e.Phase()}
	if k.phase != 0 && keys[k] {
		return fmt.Errorf("%w: a second %s of %s", ErrDamaged, e.Kind, e.Step)
	}
	if e.NeedsIntent() && !keys[stepPhase{e.Step, uint8(Intent)}] {
		return fmt.Errorf("%w: the result of %s has no intent", ErrDamaged, e.Step)
	}
	keys[k] = true
	return checkRules(s, e)
}

func checkRules(s *State, e Entry) error {
	if err := judgeShape(e); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := s.Apply(e); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// NeedsIntent says whether a log that holds e holds an intent of the same step too.
func (e *Entry) NeedsIntent() bool {
	return e.Kind == Result && e.OnCut != Redo && e.Outcome != Denied
}

// Same holds a folded log against one that was kept, and says with ErrDamaged that they differ. Woken is not compared: it came with
// schema 2, and a state that was written before lacks it.
func (s *State) Same(kept *State) error {
	f, l := *s, *kept
	f.Woken, l.Woken = false, false
	a, err := MarshalState(&f)
	if err != nil {
		return err
	}
	b, err := MarshalState(&l)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%w: the listed state is not what the log folds to", ErrDamaged)
	}
	return nil
}

func (v *verifier) verifyBlobs(ctx context.Context, run string, e Entry) {
	if !e.Blob.IsZero() {
		n, err := v.blob(ctx, e.Blob)
		if err == nil && n != e.Size {
			err = fmt.Errorf("%w: blob %s has %d bytes, the entry says %d", ErrDamaged, e.Blob.Short(), n, e.Size)
		}
		if err != nil {
			v.fault(Fault{run, e.Seq, err})
		}
	}
	for _, d := range e.Refs {
		if _, err := v.blob(ctx, d); err != nil {
			v.fault(Fault{run, e.Seq, err})
		}
	}
}

// blob reads a blob once and returns its length.
func (v *verifier) blob(ctx context.Context, d Digest) (int64, error) {
	if n, ok := v.blobs[d]; ok {
		return n, nil
	}
	if v.store == nil {
		return 0, fmt.Errorf("%w: it names blob %s and the journal has none", ErrDamaged, d.Short())
	}
	r, err := v.store.Open(ctx, d)
	if err != nil {
		if errors.Is(err, ErrNotFound) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return 0, fmt.Errorf("blob %s: %w", d.Short(), err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return 0, fmt.Errorf("blob %s: %w", d.Short(), err)
	}
	v.blobs[d] = n
	return n, nil
}

// update is a write that replaced a version of a key.
type update struct {
	seq    uint64
	write  Write
	digest Digest // of the space, the key and the version
}

// collectWrites notes which versions of which keys an entry replaces.
func (v *verifier) collectWrites(e Entry) {
	for _, w := range e.Writes {
		if w.Expect == 0 {
			continue
		}
		d := DigestOf(fmt.Appendf(nil, "%d %s %d %s %d", len(w.Space), w.Space, len(w.Key), w.Key, w.Expect))
		w.Value = nil
		v.own = append(v.own, update{e.Seq, w, d})
	}
}

// verifyWrites looks for two writes, in whichever runs, that replaced the same version of a key.
func (v *verifier) verifyWrites(run string) {
	for _, u := range v.own {
		if v.updates[u.digest] {
			v.fault(Fault{run, u.seq, fmt.Errorf("%w: version %d of key %.80q of %.80q was replaced twice", ErrDamaged, u.write.Expect, u.write.Key, u.write.Space)})
		}
		v.updates[u.digest] = true
	}
}
