package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/fwpsuite/fwp/internal/input"
)

// TLSOptions are how a server's certificate is checked. The zero value checks
// it against the authorities of the system and the host of the URL.
type TLSOptions struct {
	CAFile     string // PEM; the only authorities that are trusted
	ServerName string // instead of the host of the URL
	Insecure   bool   // nothing is checked
}

// IsZero reports whether no option is set.
func (o TLSOptions) IsZero() bool { return o == TLSOptions{} }

// Config returns the configuration for a server at an address: nil if the URL
// asks for plain TCP.
func (o TLSOptions) Config(a Address) (*tls.Config, error) {
	switch {
	case !a.TLS && o.IsZero():
		return nil, nil
	case !a.TLS:
		return nil, errors.New("TLS options go with a tcp+tls:// URL; this one begins with tcp://")
	case o.Insecure && (o.CAFile != "" || o.ServerName != ""):
		return nil, errors.New("an insecure connection checks nothing: neither an authority nor a server name goes with it")
	}
	c := &tls.Config{ServerName: a.Host, InsecureSkipVerify: o.Insecure} //nolint:gosec // the user asked for it
	if o.ServerName != "" {
		c.ServerName = o.ServerName
	}
	if o.CAFile == "" {
		return c, nil
	}
	pem, err := input.Read(o.CAFile, 16<<20)
	if err != nil {
		return nil, fmt.Errorf("CA file: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file %s: no certificate in PEM form in it", o.CAFile)
	}
	return c, nil
}
