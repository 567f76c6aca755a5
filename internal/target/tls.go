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
	c := &tls.Config{ServerName: a.Host, InsecureSkipVerify: o.Insecure} //nolint:gosec // the user asked for it
	if o.ServerName != "" {
		c.ServerName = o.ServerName
	}
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
