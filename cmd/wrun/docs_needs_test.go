//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/feedserver"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// modules is where the sources of a page's modules lie.
var modules = []string{"tools", "examples/recipes", "internal/wasmtest/guests"}

// provide puts into a page's directory what it needs, and returns what its environment has of it:
//
//	NAME.wasm  a bundled tool, a recipe's or a guest of the tests
//	checkout   the files of this tree, as links
//	ledger     a ledger, whose URL is in $LEDGER
//	feed       a server with a feed, whose URL is in $FEED; its readers need $FEED_TOKEN
//	mail       a mail server in $MAIL, where desk logs in with $MAIL_PASSWORD, and which keeps in mailbox what it takes over
//	bad-mail   the same, and when it has taken the first mail over it says nothing more
func provide(t *testing.T, dir, need string) ([]string, error) {
	t.Helper()
	if name, ok := strings.CutSuffix(need, ".wasm"); ok {
		for _, in := range modules {
			if _, err := os.Stat(filepath.Join("../..", in, name)); err == nil {
				return nil, os.WriteFile(filepath.Join(dir, need), wasmtest.Tool(t, in+"/"+name), 0o600)
			}
		}
		return nil, fmt.Errorf("there is no %s in %s", name, strings.Join(modules, ", "))
	}
	switch need {
	case "checkout":
		return nil, link(dir)
	case "ledger":
		s, err := ledger.Start(ledger.Config{})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { s.Close() })
		return []string{"LEDGER=" + s.URL()}, nil
	case "feed":
		const token = "for-readers-only"
		s, err := feedserver.Start(feedserver.Config{Token: token})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { s.Close() })
		return []string{"FEED=" + s.URL(), "FEED_TOKEN=" + token}, nil
	case "mail":
		return mailbox(t, dir)
	case "bad-mail":
		return mailbox(t, dir, mailserver.Fault{At: mailserver.Taken, Times: 1, Stall: true})
	}
	return nil, fmt.Errorf("no page can need %q", need)
}

func mailbox(t *testing.T, dir string, faults ...mailserver.Fault) ([]string, error) {
	t.Helper()
	cfg := mailserver.Config{User: "desk", Password: "let-me-in-please", Dir: filepath.Join(dir, "mailbox"), Faults: faults}
	if err := os.Mkdir(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	s, err := mailserver.Start(cfg)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.Close() })
	return []string{"MAIL=" + s.URL(), "MAIL_PASSWORD=" + cfg.Password}, nil
}

// link makes a directory look like the root of the tree.
func link(dir string) error {
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
