package world

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// Settle returns when nothing that a dead process has sent is on its way any more, so that what has not been done by then will not be.
// Nobody else may use the world meanwhile. A real provider offers no such thing; there a person waits.
func (l *Live) Settle(ctx context.Context) error {
	// Connections are accepted in the order in which they were made: once this one is refused, the older ones are known.
	probe, err := new(net.Dialer).DialContext(ctx, "tcp", l.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("wait for the world: %w", err)
	}
	defer probe.Close()
	stop := context.AfterFunc(ctx, func() { probe.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := probe.Write([]byte("settle\n")); err == nil {
		io.Copy(io.Discard, probe) // it is no greeting, so the connection is closed
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		l.mu.Lock()
		open := len(l.conns)
		l.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d connections of dead processes: %w", open, context.Cause(ctx))
		}
	}
}
