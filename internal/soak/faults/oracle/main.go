// Command oracle serves a ledger that counts what really happened, in a process of its own: neither a kill nor a power cut of
// wrun touches it, and its file lies on a disk that is not cut. It prints its URL as the only line on standard output, and ends
// when its standard input does.
//
// Beside what package ledger serves there is
//
//	GET /settled   200 once nothing that somebody has sent is on its way any more
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	cfg := ledger.Config{Behaviour: ledger.Behaviour{HonourKeys: true}}
	flag.StringVar(&cfg.File, "file", "", "file to keep charges in; none keeps them in memory")
	flag.Parse()
	l, err := ledger.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	mux := http.NewServeMux()
	mux.Handle("/", l)
	var s *trials.Server
	ready := make(chan struct{})
	mux.HandleFunc("GET /settled", func(w http.ResponseWriter, r *http.Request) {
		<-ready
		if s.Idle(r.Context(), 1) != nil { // the one is whoever asks
			panic(http.ErrAbortHandler)
		}
	})
	if s, err = trials.Serve(mux); err != nil {
		return err
	}
	close(ready)
	fmt.Println(s.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, s.Close())
}
