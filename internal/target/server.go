package target

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/internal/input"
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

// TLSOptions are how a server's certificate is checked. The zero value checks
// it against the authorities of the system and the host of the URL.
type TLSOptions struct {
	CAFile     string `json:"-"`                     // PEM; the only authorities that are trusted
	CA         string `json:"ca,omitempty"`          // what CAFile has, in its place
	ServerName string `json:"server_name,omitempty"` // instead of the host of the URL
	Insecure   bool   `json:"insecure,omitempty"`    // nothing is checked
}

// IsZero reports whether no option is set.
func (o TLSOptions) IsZero() bool { return o == TLSOptions{} }

// Loaded returns the options without a file: they have what is in it.
func (o TLSOptions) Loaded() (TLSOptions, error) {
	if o.CAFile == "" {
		return o, nil
	}
	pem, err := input.Read(o.CAFile, 16<<20)
	if err != nil {
		return o, fmt.Errorf("CA file: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return o, fmt.Errorf("CA file %s: no certificate in PEM form in it", o.CAFile)
	}
	o.CAFile, o.CA = "", string(pem)
	return o, nil
}

// Config returns the configuration for a server at an address: nil if the URL
// asks for plain TCP.
func (o TLSOptions) Config(a Address) (*tls.Config, error) {
	switch {
	case !a.TLS && o.IsZero():
		return nil, nil
	case !a.TLS:
		return nil, errors.New("TLS options go with a tcp+tls:// URL; this one begins with tcp://")
	case o.Insecure && (o.CAFile+o.CA != "" || o.ServerName != ""):
		return nil, errors.New("an insecure connection checks nothing: neither an authority nor a server name goes with it")
	}
	name := cmp.Or(o.ServerName, a.Host)
	c := &tls.Config{ServerName: name, InsecureSkipVerify: o.Insecure} //nolint:gosec // the user asked for it
	o, err := o.Loaded()
	switch {
	case err != nil:
		return nil, err
	case o.CA == "":
		return c, nil
	}
	c.RootCAs = x509.NewCertPool()
	c.RootCAs.AppendCertsFromPEM([]byte(o.CA))
	return c, nil
}
