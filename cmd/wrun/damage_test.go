package main

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"
)

// damage makes a journal that cannot be used: damage KIND FILE, where FILE is a good journal to begin with.
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
	case "held":
		hold(ts, path+".lock")
	default:
		ts.Fatalf("damage: unknown kind %q", args[0])
	}
}
