package hostfuncs

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// Config is what the standard host functions stand on. The zero value works: the system's resolver, clock, dialer and
// certificate authorities.
type Config struct {
	// Resolver finds the addresses of names; nil means Go's own, with the servers and files of the system.
	Resolver Resolver
	// Now is the clock where a Call has none; nil means time.Now.
	Now func() time.Time
	// RootCAs are the authorities that https servers are verified against; nil means the system's.
	RootCAs *x509.CertPool
	// Dial opens the TCP connection to an address that was judged before, always an IP and a port; nil means
	// net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Secrets reads the values of secrets; nil means that there are none.
	Secrets *Vault
}

// Resolver finds the addresses of a name, and ends when its context does. It may be called concurrently. *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Standard returns every function of toolabi.Functions, in that order.
func Standard(cfg Config) []Func {
	if cfg.Resolver == nil {
		// The C library's resolver cannot be given up: a lookup that takes a minute holds a thread for as long, whatever became of
		// the request, and its plug-ins find names that nobody sees in a configuration. Go's own obeys the context.
		cfg.Resolver = &net.Resolver{PreferGo: true}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	web := &client{resolver: cfg.Resolver, dial: cfg.Dial, roots: cfg.RootCAs, secrets: cfg.Secrets}
	return []Func{
		logFunc(cfg.Secrets),
		progressFunc(cfg.Secrets),
		clockFunc(cfg.Now),
		randomFunc(),
		fetchFunc(web),
		sendFunc(web),
		approveFunc(cfg.Now),
		sleepFunc(cfg.Now),
		toolCallFunc(),
		secretHasFunc(cfg.Secrets),
		configGetFunc(),
		kvGetFunc(),
		kvPutFunc(),
		kvCASFunc(),
		kvDeleteFunc(),
		kvListFunc(),
		artifactPutFunc(),
		artifactGetFunc(),
		artifactStatFunc(),
		workspaceReadFunc(),
		workspaceWriteFunc(),
		workspaceListFunc(),
		workspaceRemoveFunc(),
		mailFunc(&post{web: web, vault: cfg.Secrets, now: cfg.Now}),
	}
}
