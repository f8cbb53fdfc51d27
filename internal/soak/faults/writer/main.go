// Command writer appends to one run of a journal, each entry with a blob, until it is killed, and prints "ACK n" for every entry
// whose append has returned. It has no other purpose than to be killed, cut off and traced.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

func main() {
	n := flag.Int("n", 0, "how many entries there are to be in the end; 0 means until it is killed")
	run := flag.String("run", "r", "the run")
	size := flag.Int("size", 100, "the bytes of each body")
	flag.Parse()
	if err := write(flag.Arg(0), *run, *n, *size); err != nil {
		fmt.Fprintln(os.Stderr, "writer:", err)
		os.Exit(1)
	}
}

func write(path, run string, n, size int) (err error) {
	ctx := context.Background()
	j, err := boltdb.Create(ctx, path, boltdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	at := uint64(0)
	for s, err := range j.List(ctx, journal.Query{Run: run}) {
		if err != nil {
			return err
		}
		at = s.Len
	}
	for ; n == 0 || at < uint64(n); at++ {
		e := journal.Entry{Kind: journal.Record, Time: time.Now().UnixNano(), Name: "note", Body: []byte(strings.Repeat("x", size))}
		if at == 0 {
			e = journal.Entry{Kind: journal.Created, Time: e.Time, Name: "writer", Body: []byte("x")}
		}
		if e.Blob, e.Size, err = j.Put(ctx, strings.NewReader(fmt.Sprint("blob of entry ", at))); err != nil {
			return err
		}
		e.Body = nil
		if at%2 == 1 { // half of them have a body in their place, and the blob beside it
			e.Refs, e.Blob, e.Size, e.Body = []journal.Digest{e.Blob}, journal.Digest{}, 0, []byte(strings.Repeat("x", size))
		}
		if err := j.Append(ctx, run, at, e); err != nil {
			return err
		}
		fmt.Println("ACK", at)
	}
	return nil
}
