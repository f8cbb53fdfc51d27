// Command feedserver serves the server of package feedserver until it is interrupted. It prints its URL as the only line on standard
// output, once connections are accepted.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/wrun-dev/wrun/internal/feedserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "feedserver:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg feedserver.Config
	flag.StringVar(&cfg.Addr, "addr", "127.0.0.1:0", "address to listen on")
	flag.StringVar(&cfg.Token, "token", "", "the bearer token that readers of the feed need; none lets everybody read")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	s, err := feedserver.Start(cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-stop
	return s.Close()
}
