package situations

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// greetingSituations are about HI, HELLO and where the server is. (Not Identified State; HELLO; URL Configuration)
func greetingSituations() []situation {
	const auth = "AUTH-01 AUTH-03"
	return append([]situation{
		{"greeting/spaces", "a greeting with white space in its JSON is understood",
			"HI-09", 1, playGreeted("HI-09"), setup{rules: `on greeting: reply '+HI {  "v" : 2  }'`}},
		{"greeting/unknown-fields", "unknown fields of the greeting are ignored",
			"HI-08", 1, playGreeted("HI-08"),
			setup{rules: `on greeting: reply '+HI {"x":[1,{"s":"y"}],"v":2,"server":"fwp"}'`}},
		{"greeting/late", "a client waits for the greeting before it sends HELLO, also after a lost connection",
			"HI-07", 5, playLateGreeting, setup{rules: "on greeting: delay 1s"}},
		{"greeting/newer-version", "a client accepts a server with a newer protocol version",
			"HI-06", 1, playGreeted("HI-06"), setup{rules: `on greeting: reply '+HI {"v":3}'`}},
		{"password/one-round", "the password hash is right for one iteration",
			auth, 2, playHello("AUTH-01"), password("secret", 1, "")},
		{"password/many-rounds", "the password hash is right for thousands of iterations",
			auth, 2, playHello("AUTH-01"), password("secret", 3001, "")},
		{"password/leading-zeros", "a password hash that begins with zeros has all of its digits",
			auth, 2, playHello("AUTH-01"), password("secret", 23, "salt777")}, // it begins with 0001
		{"password/odd-salt", "the password hash is right for a salt with unusual characters",
			auth, 2, playHello("AUTH-01"), password("secret", 37, "\u00a0ünï\"salt\"\\日本%41\u00a0")},
		{"password/escaped", "a password that is escaped in the URL is unescaped",
			"AUTH-01 WRK-16", 2, playHello(""), password("p@ss:w/rd %41+ü", 1, "")},
		{"password/key-order", "the password hash is right where s comes before i in the greeting",
			auth, 2, playHello("AUTH-01"), setup{
				server: password("secret", 23, "salt777").server,
				rules:  `on greeting: reply '+HI {"s":"salt777","v":2,"i":23}'`,
			}},
		{"password/again", "each connection uses its own salt for the password hash, also after a reconnect",
			auth, 3, playRepeatedHello, password("secret", 0, "")},
		{"url/provider", "FAKTORY_PROVIDER names the variable that has the URL",
			"WRK-02", 1, playWorks("WRK-02", "a client that connects to the server of that URL"), setup{usesProvider: true}},
		{"url/ipv6", "the server may have an IPv6 address",
			"WRK-13", 1, playWorks("WRK-13", "a client that connects to [::1]"), setup{usesIPv6: true}},
		{"url/tls", "the URL may require TLS, with a certificate that the program trusts",
			"WRK-14", 1, withTLS(playWorks("WRK-14", "a client that connects to tcp+tls://localhost")), setup{usesTLS: true}},
		{"password/over-tls", "the password hash is sent over TLS, too",
			auth, 2, withTLS(playHello("")), setup{usesTLS: true, server: password("secret", 3, "").server}},
	}, wrongCertificates()...)
}

// wrongCertificate is one that a client must not take for that of localhost.
type wrongCertificate struct {
	name, title string
	signedBy    string // "itself", "another" authority than that which the client trusts; empty: by that
	change      func(*x509.Certificate)
}

// wrongCertificates returns a situation for each certificate that is not right.
func wrongCertificates() (all []situation) {
	unchanged := func(*x509.Certificate) {}
	for _, w := range []wrongCertificate{
		{"another-name", "for another name", "", func(c *x509.Certificate) { c.DNSNames = []string{"other.invalid"} }},
		{"expired", "that has expired", "", func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = c.NotBefore.Add(-2*time.Hour), c.NotBefore.Add(-time.Hour)
		}},
		{"unknown-authority", "of an authority that it does not trust", "another", unchanged},
		{"self-signed", "that is self-signed", "itself", unchanged},
	} {
		all = append(all, situation{
			id: "certificate/" + w.name, title: "a client sends nothing to a server with a certificate " + w.title,
			clauses: "WRK-17", wait: 3, play: withTLS(playWrongCertificate),
			setup: setup{usesTLS: true, wrongCert: &w, server: password("secret", 3, "").server},
		})
	}
	return all
}

// playWrongCertificate starts the program on a server with a wrong certificate. A program that begins no handshake has
// looked at none.
func playWrongCertificate(t *trial) {
	p, err := t.start(options{isEager: true})
	if err != nil {
		t.giveUp(true, "%s", firstLine(err.Error()))
	}
	sent := p.events(func(e *clientrules.Event) bool { return e.Kind == clientrules.Line })
	t.waitUntilEnd(p, t.harness.patience, func() bool { return t.handshakes.Load() > 0 || t.has(sent) })
	t.waitUntilEnd(p, timeToAct, func() bool { return t.has(sent) })
	switch {
	case t.has(sent):
		t.decide("WRK-17", false, "nothing is sent after a certificate "+t.situation.setup.wrongCert.title,
			"it sent a "+t.first(sent).Verb())
	case t.handshakes.Load() == 0:
		t.giveUp(!t.has(eventsOfKind(clientrules.ConnOpen)), "the program began no TLS handshake")
	default:
		t.decideHeld("WRK-17")
	}
}

// create makes the certificate, given the right one, whose key signs others.
func (w *wrongCertificate) create(issuer *tls.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority, err := x509.ParseCertificate(issuer.Certificate[0])
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: authority.DNSNames,
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	w.change(template)
	by := issuer.PrivateKey
	switch w.signedBy {
	case "itself":
		authority, by = template, key
	case "another":
		authority = &x509.Certificate{Subject: pkix.Name{CommonName: "another authority"}}
		if by, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, by)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// password is the set-up of servers with a password.
func password(password string, iterations int, salt string) setup {
	return setup{server: func(c *fakes.Config) { c.Password, c.Iterations, c.Salt = password, iterations, salt }}
}

func playGreeted(clause string) func(*trial) {
	return playWorks(clause, "a client that greets and works")
}

func playLateGreeting(t *trial) {
	playRepeatedHello(t)
	t.waitUntil(2*time.Second, func() bool { return false })
}

// playHello returns a play that launches the program, and waits until it has greeted, on its other connections too. One
// that works elsewhere and sends no HELLO to a server with a password breaks the clause, if there is one: it may know
// no passwords at all.
func playHello(clause string) func(*trial) {
	return func(t *trial) {
		p, err := t.start(options{})
		switch {
		case err != nil && t.ctx.Err() == nil && t.harness.observation.Works && clause != "":
			t.decide(clause, false, "a HELLO with a pwdhash", firstLine(err.Error()))
			return
		case err != nil: // one that has connected will be as silent again
			t.giveUp(!t.has(eventsOfKind(clientrules.ConnOpen)), "%s", firstLine(err.Error()))
		case !t.has(p.lines(fwp.HELLO)):
			t.giveUp(true, "the program sent no HELLO")
		}
		t.await(p, 2*time.Second, reply(fwp.HELLO))
		t.watch(p, time.Second)
	}
}

// playRepeatedHello ends the first connections of a program, every other one behind the first byte of a reply, so that
// it opens others, which each have another salt.
func playRepeatedHello(t *trial) {
	const losses = 8
	t.hook(saltConnections())
	t.addRules(fmt.Sprintf("on checked FETCH BEAT PUSH; first 1 by conn; first %d: skip\n", losses) +
		"on ran FETCH BEAT PUSH if skipped: silent, close\n" +
		"on writing FETCH BEAT PUSH if skipped; each 2: write '+'")
	p := t.launch(options{concurrency: 1})
	hellos := p.lines(fwp.HELLO)
	t.waitUntilEnd(p, timeToAct, func() bool { return t.count(hellos) > losses })
	t.waitUntilEnd(p, quickPatience, func() bool { return t.count(hellos) > 1 })
	t.watch(p, time.Second)
	if t.count(hellos) < 2 {
		t.remark("the program opened no other connection")
	}
}

func withTLS(play func(*trial)) func(*trial) {
	return func(t *trial) {
		if t.harness.Certificate == nil {
			t.giveUp(false, "there is no certificate for a server with TLS")
		}
		play(t)
	}
}

// declinedSituations are about a HELLO that the server declines.
func declinedSituations() []situation {
	return []situation{
		{"greeting/declined", "no other command follows a HELLO that the server refused",
			"STATE-02", 3, playDeclined,
			setup{rules: "on checked HELLO if not refused; first 2: refuse 'no more connections are possible now'"}},
	}
}

func playDeclined(t *trial) {
	p := t.launch(options{})
	if !t.await(p, quickPatience, refusal(fwp.HELLO)) {
		t.giveUp(true, "no HELLO was refused")
	}
	t.watch(p, timeToAct)
	t.decideHeld("STATE-02") // unless a rule has found a command
}
