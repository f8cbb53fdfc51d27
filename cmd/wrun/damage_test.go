package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"
)

// oldJournal puts a journal of an earlier version where it can be used: oldjournal FOLDER FILE, with a folder of testdata/journals.
func oldJournal(ts *testscript.TestScript, neg bool, args []string) {
	path, folder := ts.MkAbs(args[1]), filepath.Join("..", "..", "testdata", "journals", args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	for _, beside := range []string{".blobs", ".owners"} {
		ts.Check(os.CopyFS(path+beside, os.DirFS(filepath.Join(folder, "journal.db"+beside))))
	}
	packed, err := os.Open(filepath.Join(folder, "journal.db.gz"))
	ts.Check(err)
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	ts.Check(err)
	b, err := io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(path, b, 0o600))
}

// damage makes a file that cannot be used: damage KIND FILE, where FILE is a good journal or bundle to begin with.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	switch args[0] {
	case "empty":
		ts.Check(os.Truncate(path, 0))
	case "short":
		ts.Check(os.Truncate(path, 5000))
	case "half":
		ts.Check(os.Truncate(path, 5*4096)) // both metas are whole, and a page that they name is missing
	case "text":
		ts.Check(os.WriteFile(path, []byte("this is a shopping list, and a long one at that\n"), 0o600))
	case "other-bolt":
		ts.Check(os.Remove(path))
		db, err := bbolt.Open(path, 0o600, nil)
		ts.Check(err)
		ts.Check(db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("something else"))
			return err
		}))
		ts.Check(db.Close())
	case "newer":
		db, err := bbolt.Open(path, 0o600, nil)
		ts.Check(err)
		ts.Check(db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("wrun")).Put([]byte("schema"), []byte{0, 0, 0, 0, 0, 0, 0, 99})
		}))
		ts.Check(db.Close())
	case "tail": // the last byte is missing
		info, err := os.Stat(path)
		ts.Check(err)
		ts.Check(os.Truncate(path, info.Size()-1))
	case "newer-bundle": // a header with format 99
		ts.Check(os.WriteFile(path, []byte("wrun bundle\n\x01\x00\x00\x00\x04\xa1\x01\x18\x63"), 0o600))
	case "entry": // one entry of a run, on whatever page it lies: damage entry FILE RUN SEQ
		db, err := bbolt.Open(path, 0o600, nil)
		ts.Check(err)
		seq, err := strconv.ParseUint(args[3], 10, 64)
		ts.Check(err)
		ts.Check(db.Update(func(tx *bbolt.Tx) error {
			b, k := tx.Bucket([]byte("entries")), binary.BigEndian.AppendUint64([]byte(args[2]+"\x00"), seq)
			v := bytes.Clone(b.Get(k))
			v[len(v)-1] ^= 1
			return b.Put(k, v)
		}))
		ts.Check(db.Close())
		// Older pages still have it.
		all, err := os.ReadFile(path)
		ts.Check(err)
		for _, m := range regexp.MustCompile(regexp.QuoteMeta(args[2]+"\x00"+string(binary.BigEndian.AppendUint64(nil, seq)))).FindAllIndex(all, -1) {
			all[m[1]+40] ^= 2
		}
		ts.Check(os.WriteFile(path, all, 0o600))
	case "meta": // the newer of the two header pages
		all, err := os.ReadFile(path)
		ts.Check(err)
		at := 0
		if page := os.Getpagesize(); binary.LittleEndian.Uint64(all[page+16+48:]) > binary.LittleEndian.Uint64(all[16+48:]) {
			at = page
		}
		all[at+20] ^= 0xFF
		ts.Check(os.WriteFile(path, all, 0o600))
	case "held":
		hold(ts, path+".lock")
	default:
		ts.Fatalf("damage: unknown kind %q", args[0])
	}
}
