package target

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/target/forward"
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
	Probe    Probe       // how it is seen whether something that was done to it took effect
	// Patience is how long it may take until it serves after it was started; 30 s if zero.
	Patience time.Duration
	// Deeds records what clients do to the transport, where a forwarder may be in between; nil: nothing is recorded.
	Deeds *forward.Record
	// ReachedAddresses notes the addresses to which connections were opened; nil: nothing is noted.
	ReachedAddresses *ReachedAddresses

	processes     func() int    // the process above those of a server that was started; nil for others
	effectTimeout time.Duration // how long after a command its effect may be seen; effectTimeout if zero
}

// Forwarded implements [forward.Target].
func (s *Server) Forwarded() *forward.Record { return s.Deeds }

// Dial opens a connection, with the TLS handshake done. It waits until ctx is done, but not longer than 30 s; see
// [Address.Advice] for its errors. A shortage of this machine is noticed, see [machine.Notice].
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
	nc, err := s.Deeds.Open(ctx, to.HostPort(), func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Control: smallSegments}).DialContext(ctx, "tcp", to.HostPort())
	})
	if err != nil {
		return nil, machine.Notice(ctx, err)
	}
	if at, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		s.ReachedAddresses.Note(at.AddrPort())
	}
	if s.TLS == nil {
		return nc, nil
	}
	secured := tls.Client(nc, s.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		return nil, &HandshakeError{to.HostPort(), err}
	}
	return &goodbye{secured, nc}, nil
}

// goodbye is a TLS connection, of which a record of the transport knows that the last bytes are no command.
type goodbye struct {
	*tls.Conn
	raw net.Conn
}

// Close says goodbye, and closes the connection.
func (g *goodbye) Close() error {
	forward.AnnounceClose(g.raw)
	return g.Conn.Close()
}

// ReachedAddresses are the addresses of a name to which connections were opened. Its methods may be called by many
// goroutines at once, and on nil, where they do nothing.
type ReachedAddresses struct {
	mu  sync.Mutex
	all []netip.Addr
}

// Note notes where a connection was opened to.
func (r *ReachedAddresses) Note(at netip.AddrPort) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := at.Addr().Unmap(); !slices.Contains(r.all, a) {
		r.all = append(r.all, a)
	}
}

// Words returns the addresses in the order in which they were first reached, and those that the name has besides, as
// "connected to 127.0.0.1; localhost is ::1, too". It is empty for a host that is an address, and if none was reached.
func (r *ReachedAddresses) Words(ctx context.Context, host string) string {
	if _, err := netip.ParseAddr(host); r == nil || err == nil {
		return ""
	}
	r.mu.Lock()
	reached := slices.Clone(r.all)
	r.mu.Unlock()
	if len(reached) == 0 {
		return ""
	}
	words := "connected to " + commas(reached)
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host) // none if the name is gone
	for i := range addresses {
		addresses[i] = addresses[i].Unmap()
	}
	addresses = slices.DeleteFunc(addresses, func(a netip.Addr) bool { return slices.Contains(reached, a) })
	if len(addresses) > 0 {
		words += "; " + host + " is " + commas(addresses) + ", too"
	}
	return words
}

func commas(all []netip.Addr) string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
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
	CertFile   string `json:"-"`                     // PEM; the certificate of the client, for servers that ask for one
	KeyFile    string `json:"-"`                     // PEM; its key
}

// IsZero reports whether no option is set.
func (o TLSOptions) IsZero() bool { return o == TLSOptions{} }

// WithFiles returns the options without a file: they have what is in it.
func (o TLSOptions) WithFiles() (TLSOptions, error) {
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
		return nil, errors.New("TLS options need a tcp+tls:// URL; this one begins with tcp://")
	case o.Insecure && (o.CAFile+o.CA != "" || o.ServerName != ""):
		return nil, errors.New("--tls-insecure checks nothing: give it without --tls-ca and --tls-server-name")
	}
	name := cmp.Or(o.ServerName, a.Host)
	c := &tls.Config{ServerName: name, InsecureSkipVerify: o.Insecure} //nolint:gosec // the user asked for it
	o, err := o.WithFiles()
	if err != nil {
		return nil, err
	}
	if o.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(o.CA))
	}
	c.Certificates, err = o.pair()
	return c, err
}

// pair returns the certificate of the client with its key; none if there is none. No error holds anything of the key.
func (o TLSOptions) pair() ([]tls.Certificate, error) {
	if o.CertFile == "" && o.KeyFile == "" {
		return nil, nil
	}
	if o.CertFile == "" || o.KeyFile == "" {
		return nil, errors.New("a client certificate needs its key: give both --tls-cert and --tls-key")
	}
	cert, err := input.Read(o.CertFile, 16<<20)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := input.Read(o.KeyFile, 16<<20)
	if err != nil {
		return nil, fmt.Errorf("--tls-key: %w", err)
	}
	if bytes.Contains(key, []byte("ENCRYPTED")) {
		return nil, fmt.Errorf("--tls-key %s: the key has a passphrase: remove it (openssl pkey -in FILE)",
			o.KeyFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s with --tls-key %s: %s", o.CertFile, o.KeyFile,
			strings.TrimPrefix(err.Error(), "tls: "))
	}
	return []tls.Certificate{pair}, nil
}
