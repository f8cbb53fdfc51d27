package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fxamacker/cbor/v2"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/bundle"
)

var (
	small = []byte("a blob")
	large = bytes.Repeat([]byte("0123456789abcdef"), (bundle.MaxFrame+1000)/16)
)

func header() bundle.Header {
	return bundle.Header{Of: bundle.Backup, Journal: journal.DigestOf([]byte("journal")), Created: 1, Schema: 2, Made: 3}
}

func record(n int) []byte { return append(make([]byte, 32), byte(n)) }

// write makes a bundle with every type of frame.
func write(t testing.TB, blobs ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := bundle.NewWriter(&b, header())
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	check(w.Log(bundle.Log{Run: "a"}))
	check(w.Record(record(1)))
	check(w.Record(record(2)))
	check(w.Key(bundle.Key{Space: "kv:s", Key: "k", Version: 3, Value: []byte("v")}))
	check(w.Key(bundle.Key{Space: "kv:s", Key: "gone", Version: 4, Deleted: true}))
	check(w.Removed(bundle.Removed{Run: "old", Kept: []byte("kept")}))
	check(w.Log(bundle.Log{Run: "a", From: 1}))
	check(w.Record(record(2)))
	check(w.Record(record(3)))
	for _, blob := range blobs {
		check(w.Blob(bundle.Blob{Digest: journal.DigestOf(blob), Size: int64(len(blob))}, bytes.NewReader(blob)))
	}
	_, err = w.End()
	check(err)
	return b.Bytes()
}

// sorted returns blobs in the order in which a bundle has them.
func sorted(blobs ...[]byte) [][]byte {
	a, b := journal.DigestOf(blobs[0]), journal.DigestOf(blobs[1])
	if bytes.Compare(a[:], b[:]) > 0 {
		return [][]byte{blobs[1], blobs[0]}
	}
	return blobs
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	blobs := sorted(small, large)
	b := write(t, blobs...)
	r, err := bundle.NewReader(iotest.HalfReader(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	want := header()
	want.Format = bundle.Format
	if got := r.Header(); got != want {
		t.Errorf("header %+v, want %+v", got, want)
	}
	var got []bundle.Frame
	var contents [][]byte
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.Type == bundle.TypeBlob {
			content, err := io.ReadAll(r.Content())
			if err != nil {
				t.Fatal(err)
			}
			contents = append(contents, content)
		}
		f.Record = bytes.Clone(f.Record)
		got = append(got, f)
	}
	frames := []bundle.Frame{
		{Type: bundle.TypeRun, Log: bundle.Log{Run: "a"}},
		{Type: bundle.TypeRecord, Log: bundle.Log{Run: "a"}, Record: record(1)},
		{Type: bundle.TypeRecord, Log: bundle.Log{Run: "a", From: 1}, Record: record(2)},
		{Type: bundle.TypeKey, Key: bundle.Key{Space: "kv:s", Key: "k", Version: 3, Value: []byte("v")}},
		{Type: bundle.TypeKey, Key: bundle.Key{Space: "kv:s", Key: "gone", Version: 4, Deleted: true}},
		{Type: bundle.TypeRemoved, Removed: bundle.Removed{Run: "old", Kept: []byte("kept")}},
		{Type: bundle.TypeRun, Log: bundle.Log{Run: "a", From: 1}},
		{Type: bundle.TypeRecord, Log: bundle.Log{Run: "a", From: 1}, Record: record(2)},
		{Type: bundle.TypeRecord, Log: bundle.Log{Run: "a", From: 2}, Record: record(3)},
		{Type: bundle.TypeBlob, Blob: bundle.Blob{Digest: journal.DigestOf(blobs[0]), Size: int64(len(blobs[0]))}},
		{Type: bundle.TypeBlob, Blob: bundle.Blob{Digest: journal.DigestOf(blobs[1]), Size: int64(len(blobs[1]))}},
	}
	if !reflect.DeepEqual(got, frames) {
		t.Errorf("got\n%+v\nwant\n%+v", got, frames)
	}
	if !reflect.DeepEqual(contents, blobs) {
		t.Error("the blobs have changed")
	}
	_, counts, err := bundle.Check(bytes.NewReader(b)) // which skips the blobs
	if want := (bundle.Counts{Runs: 2, Records: 4, Keys: 2, Removed: 1, Blobs: 2, BlobBytes: uint64(len(small) + len(large))}); err != nil || counts != want {
		t.Errorf("got %+v, %v, want %+v", counts, err, want)
	}
}

func TestABundleThatIsCutOffIsDamaged(t *testing.T) {
	b := write(t, small)
	for n := range b {
		_, _, err := bundle.Check(bytes.NewReader(b[:n]))
		want := bundle.ErrDamaged
		if n == 0 {
			want = bundle.ErrForeign
		}
		if !errors.Is(err, want) {
			t.Errorf("%d of %d bytes: %v, want %v", n, len(b), err, want)
		}
	}
	if _, _, err := bundle.Check(bytes.NewReader(append(b[:len(b):len(b)], 0))); !errors.Is(err, bundle.ErrDamaged) {
		t.Errorf("with a byte more: %v", err)
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	b := write(t, small)
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			_, _, err := bundle.Check(bytes.NewReader(b))
			if !errors.Is(err, bundle.ErrDamaged) && !errors.Is(err, bundle.ErrForeign) && !errors.Is(err, bundle.ErrNewer) {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
			b[i] ^= 1 << bit
		}
	}
}

// head is a bundle that ends behind its header, whose payload is given.
func head(t *testing.T, fields map[int]any) []byte {
	t.Helper()
	payload, err := cbor.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(bundle.Magic+"\x01\x00\x00\x00"+string([]byte{byte(len(payload))})), payload...)
}

func TestWhatIsNoBundleIsSaidByName(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"text":              {[]byte("# a text of another program\n"), bundle.ErrForeign},
		"a bbolt file":      {make([]byte, 4096), bundle.ErrForeign},
		"a newer format":    {head(t, map[int]any{1: bundle.Format + 1, 99: "what comes then"}), bundle.ErrNewer},
		"format 0":          {head(t, map[int]any{1: 0}), bundle.ErrDamaged},
		"no header":         {[]byte(bundle.Magic + "\x03\x00\x00\x00\x00"), bundle.ErrDamaged},
		"a frame too large": {[]byte(bundle.Magic + "\x01\xff\xff\xff\xff"), bundle.ErrDamaged},
	} {
		if _, err := bundle.NewReader(bytes.NewReader(c.bytes)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	broken := errors.New("the disk is broken")
	if _, err := bundle.NewReader(iotest.ErrReader(broken)); !errors.Is(err, broken) || errors.Is(err, bundle.ErrDamaged) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestFramesHaveAnOrder(t *testing.T) {
	blob := func(w *bundle.Writer, b []byte) error {
		return w.Blob(bundle.Blob{Digest: journal.DigestOf(b), Size: int64(len(b))}, bytes.NewReader(b))
	}
	blobs := sorted(small, large)
	for name, f := range map[string]func(w *bundle.Writer) error{
		"a record without a run": func(w *bundle.Writer) error { return w.Record(record(1)) },
		"an empty record":        func(w *bundle.Writer) error { return errors.Join(w.Log(bundle.Log{Run: "a"}), w.Record(nil)) },
		"an id that is none":     func(w *bundle.Writer) error { return w.Log(bundle.Log{Run: "../a"}) },
		"a run behind blobs":     func(w *bundle.Writer) error { return errors.Join(blob(w, small), w.Log(bundle.Log{Run: "a"})) },
		"blobs out of order":     func(w *bundle.Writer) error { return errors.Join(blob(w, blobs[1]), blob(w, blobs[0])) },
		"a blob twice":           func(w *bundle.Writer) error { return errors.Join(blob(w, small), blob(w, small)) },
		"a key without version":  func(w *bundle.Writer) error { return w.Key(bundle.Key{Space: "s", Key: "k"}) },
		"another digest": func(w *bundle.Writer) error {
			return w.Blob(bundle.Blob{Digest: journal.DigestOf(large), Size: int64(len(small))}, bytes.NewReader(small))
		},
	} {
		var b bytes.Buffer
		w, err := bundle.NewWriter(&b, header())
		if err := errors.Join(err, f(w)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.End(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := bundle.Check(&b); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%s: %v, want %v", name, err, bundle.ErrDamaged)
		}
	}
}

func TestABlobThatHasAnotherLengthIsNotWritten(t *testing.T) {
	for _, text := range []string{"short", "much longer"} {
		w, err := bundle.NewWriter(io.Discard, header())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Blob(bundle.Blob{Digest: journal.DigestOf(small), Size: int64(len(small))}, strings.NewReader(text)); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%q: %v, want %v", text, err, journal.ErrDamaged)
		}
	}
}

// FuzzReader: whatever comes, it ends with an error that says so, or all of it was written by a Writer.
func FuzzReader(f *testing.F) {
	f.Add(write(f, small))
	f.Add(write(f))
	f.Add([]byte(bundle.Magic))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := bundle.NewReader(bytes.NewReader(b))
		var again bytes.Buffer
		var w *bundle.Writer
		if err == nil {
			if w, err = bundle.NewWriter(&again, r.Header()); err != nil {
				t.Fatal(err)
			}
		}
		for err == nil {
			var f bundle.Frame
			if f, err = r.Next(); err != nil {
				break
			}
			var werr error
			switch f.Type {
			case bundle.TypeRun:
				werr = w.Log(f.Log)
			case bundle.TypeRecord:
				werr = w.Record(f.Record)
			case bundle.TypeKey:
				werr = w.Key(f.Key)
			case bundle.TypeRemoved:
				werr = w.Removed(f.Removed)
			case bundle.TypeBlob:
				var content []byte
				if content, err = io.ReadAll(r.Content()); err == nil {
					werr = w.Blob(f.Blob, bytes.NewReader(content))
				}
			}
			if werr != nil {
				t.Fatalf("what was read cannot be written: %v", werr)
			}
		}
		if err != io.EOF {
			if !errors.Is(err, bundle.ErrDamaged) && !errors.Is(err, bundle.ErrForeign) && !errors.Is(err, bundle.ErrNewer) {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		counts, err := w.End()
		if err != nil || counts != r.Counts() {
			t.Fatalf("counts %+v, %v, want %+v", counts, err, r.Counts())
		}
	})
}
