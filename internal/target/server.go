package target

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/internal/shortage"
)

// dialTimeout bounds connecting, TLS included, for callers that set no bound
// themselves.
const dialTimeout = 30 * time.Second

// Server is a server at an address. Its methods may be called by many
// goroutines at once.
type Server struct {
	Address  Address
	TLS      *tls.Config // nil: plain TCP
	Operator Operator    // nil: nothing can be done to the server
}

// Dial opens a connection, with the TLS handshake done. It waits until ctx is
// done, but not longer than 30 s; see [Advice] for its errors. A shortage of this machine
// is noticed, see [shortage.Notice].
func (s *Server) Dial(ctx context.Context) (net.Conn, error) { return s.dial(ctx, s.Address) }

// DialBackend is Dial for workers, which connect to another port where the address has one.
func (s *Server) DialBackend(ctx context.Context) (net.Conn, error) {
	to := s.Address
	if to.Backend != "" {
		to.Port = to.Backend
	}
	return s.dial(ctx, to)
}

func (s *Server) dial(ctx context.Context, to Address) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", to.HostPort())
	if err != nil {
		return nil, shortage.Notice(ctx, err)
	}
	if s.TLS == nil {
		return nc, nil
	}
	secured := tls.Client(nc, s.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, &HandshakeError{to.HostPort(), err}
	}
	return secured, nil
}

// HandshakeError reports that the TLS handshake with a server failed.
type HandshakeError struct {
	Addr  string // "127.0.0.1:7419"
	Cause error
}

func (e *HandshakeError) Error() string {
	return fmt.Sprintf("TLS handshake with %s: %v", e.Addr, e.Cause)
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Cause }
