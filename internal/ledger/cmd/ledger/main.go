// Command ledger serves the ledger of package ledger until it is interrupted. It prints its URL as the only line on
// standard output, once connections are accepted.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/wrun-dev/wrun/internal/ledger"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg ledger.Config
	flag.StringVar(&cfg.Addr, "addr", "127.0.0.1:0", "address to listen on")
	flag.StringVar(&cfg.File, "file", "", "file to keep charges and refunds in; none keeps them in memory")
	flag.BoolVar(&cfg.Behaviour.HonourKeys, "honour-keys", false, "give the first reply again for a known idempotency key")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	s, err := ledger.Start(cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-stop
	return s.Close()
}
