package registry

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"time"

	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// Client is a program of the suite that speaks to servers of a protocol. What tests such programs is tested on it: like
// the embedded server it has catalogues of bugs and of variations.
type Client struct {
	Role    string   // "worker" or "producer"
	Parties []string // that it is, as in the clauses

	side       *fwpsituations.OtherProtocol // nil: FWP
	bugs       func() []Bug
	variations func() []Variation
	launch     func(c Config, roots *x509.CertPool) fwpsituations.InProcess
}

// Harness returns what tests the client as a configuration makes it, of which Network, Bugs and Variation count. Each
// process of it has hooks of its own.
func (c *Client) Harness(config Config) (*fwpsituations.Harness, error) {
	certificate, roots, err := localhost()
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	network := config.network()
	return &fwpsituations.Harness{
		OtherProtocol: c.side, IsProducer: c.Role == producer, Launcher: c.launch(config, roots), Certificate: certificate,
		Dial: network.DialContext, ListenAgain: network.Listen, Listen: func(ipv6 bool) (net.Listener, error) {
			if ipv6 {
				return network.Listen("[::1]:0")
			}
			return network.Listen("localhost:0")
		},
	}, nil
}

// Bugs returns the catalogue, sorted by name. The role stands before each name, as in "worker/ack-twice": so commands
// know these bugs from those of the embedded server.
func (c *Client) Bugs() []Bug {
	bugs := c.bugs()
	for i := range bugs {
		bugs[i].Name = c.Role + "/" + bugs[i].Name
	}
	return bugs
}

// Variations returns the catalogue of variations, in the same way.
func (c *Client) Variations() []Variation {
	variations := c.variations()
	for i := range variations {
		variations[i].Name = c.Role + "/" + variations[i].Name
	}
	return variations
}

// TestedBugs returns the bugs of the embedded server, and behind them those of the clients.
func (p *Entry) TestedBugs() []Bug {
	bugs := p.AllBugs()
	for _, c := range p.Clients {
		bugs = append(bugs, c.Bugs()...)
	}
	return bugs
}

// The roles of clients.
const (
	worker   = "worker"
	producer = "producer"
)

// localhost returns a certificate for a server on this machine, and what trusts it.
func localhost() (*tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots, nil
}
