// Command mailserver serves the mail server of package mailserver until it is interrupted. It prints its URL as the only line on
// standard output, once connections are accepted.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/wrun-dev/wrun/internal/mailserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mailserver:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg mailserver.Config
	drop := mailserver.Fault{At: mailserver.Taken, Close: true}
	flag.StringVar(&cfg.Addr, "addr", "127.0.0.1:0", "address to listen on")
	flag.StringVar(&cfg.Dir, "dir", "", "directory to keep messages in as N.eml; none keeps them in memory")
	flag.StringVar(&cfg.User, "user", "", "who has to log in; none takes messages of everybody")
	flag.StringVar(&cfg.Password, "password", "", "the user's password")
	flag.IntVar(&drop.Times, "drop", 0, "take so many messages over and break the connection off before saying so")
	flag.Parse()
	if drop.Times > 0 {
		cfg.Faults = append(cfg.Faults, drop)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	s, err := mailserver.Start(cfg)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-stop
	return s.Close()
}
