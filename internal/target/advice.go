package target

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/internal/target/forward"
)

// Advice returns what to do about an error of [Server.Dial], in one sentence; ""
// if nothing is known. The scheme of the address is among the others, if it is one of another protocol.
func (a Address) Advice(err error, others ...Scheme) string {
	if IsConnRefused(err) {
		fallback := defaultPort + " unless configured otherwise; its web page has another one"
		if a.Protocol != "" {
			fallback = findScheme(a.Protocol, others).Port + " unless configured otherwise"
		}
		return fmt.Sprintf("nothing listens there"+a.severalAddresses()+": is the server running, and is %s the port on "+
			"which it "+
			"takes jobs (%s)?",
			a.Port, fallback)
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		if name.IsNotFound {
			return fmt.Sprintf("is %q correct?", a.Host)
		}
		return "the DNS server does not answer: is the network up?"
	}
	if alert := Alert(err); alert != "" { // TLS 1.3 has one after the handshake, at the first read
		return adviceOnAlert(alert)
	}
	if handshake, ok := errors.AsType[*HandshakeError](err); ok {
		if advice := adviceOnTLS(handshake); advice != "" {
			return advice
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "nothing answers there: are host and port correct, and does a firewall block the connection? (--timeout " +
			"sets how long to wait)"
	}
	return ""
}

// IsConnRefused reports whether an error of [Server.Dial] means that nothing listens.
func IsConnRefused(err error) bool { return forward.IsConnRefused(err) }

// severalAddresses returns the addresses of a host that has more than one.
func (a Address) severalAddresses() string {
	all, err := net.LookupHost(a.Host) //nolint:noctx // it was looked up a moment ago
	if err != nil || len(all) < 2 {
		return ""
	}
	return " (" + a.Host + " is " + strings.Join(all, " and ") + ")"
}

// Alert returns the alert of TLS by which a server has refused a client, "certificate required" for example; "" if err
// is none. To try again is in vain.
func Alert(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return strings.TrimPrefix(op.Err.Error(), "tls: ")
	}
	return ""
}

// adviceOnAlert returns the advice for an alert.
func adviceOnAlert(alert string) string {
	switch {
	case strings.Contains(alert, "version"):
		return "it does not support TLS 1.2 or 1.3: enable one of them on the server"
	case strings.Contains(alert, "name"):
		return "it has no certificate for this name: give another name with --tls-server-name NAME"
	case alert == "certificate required" || alert == "handshake failure":
		return "it wants a client certificate, or another one: give it with --tls-cert FILE and --tls-key FILE"
	}
	return "it rejects the client or its certificate (--tls-cert): is the certificate valid, and does the server " +
		"trust its authority?"
}

// adviceOnTLS returns the advice for a handshake that failed.
func adviceOnTLS(err *HandshakeError) string {
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return noTLS(plain)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "its certificate is not signed by a trusted authority: give the authority with --tls-ca FILE, or skip " +
			"the check with --tls-insecure"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another name: give that with --tls-server-name NAME"
	}
	if _, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return "its certificate is not valid: renew it, or skip the check with --tls-insecure"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return "it closes the connection during the handshake: is it a TLS server? If not, use a tcp:// URL"
	}
	return ""
}

// noTLS returns the advice for a server whose first bytes are not TLS.
func noTLS(err tls.RecordHeaderError) string {
	first := string(err.RecordHeader[:])
	if strings.HasPrefix(first, "HTTP") {
		return "this is an HTTP server without TLS, not an FWP server: the port for jobs is usually 7419, not that of " +
			"the web page"
	}
	return "its first bytes are " + strconv.Quote(first) + ", which is not TLS: use a tcp:// URL"
}

// recognizeTimeout bounds the questions to a server. One that understands them
// answers at once.
const recognizeTimeout = 3 * time.Second

// Recognize asks a server that does not greet as FWP servers do what it is instead.
// It returns what to do about it in one sentence, "" if that is not known, and
// waits until ctx is done, but not longer than 3 s.
func (s *Server) Recognize(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, recognizeTimeout)
	defer cancel()
	var isWeb, isTLS bool
	var asking sync.WaitGroup
	asking.Go(func() { isWeb = s.speaksHTTP(ctx) })
	asking.Go(func() { isTLS = s.TLS == nil && s.speaksTLS(ctx) })
	asking.Wait()
	switch {
	case isWeb:
		return "this is an HTTP server, perhaps the web page of an FWP server: use its port for jobs (7419 unless " +
			"configured otherwise)"
	case isTLS:
		return "this is a TLS server: use a tcp+tls:// URL"
	}
	return ""
}

// speaksTLS reports whether a server accepts a TLS handshake.
func (s *Server) speaksTLS(ctx context.Context) bool {
	unchecked := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // nothing is sent on it
	secure := &Server{Address: s.Address, TLS: unchecked}
	nc, err := secure.Dial(ctx)
	if err != nil {
		return false
	}
	_ = nc.Close()
	return true
}

func (s *Server) speaksHTTP(ctx context.Context) bool {
	nc, err := s.Dial(ctx)
	if err != nil {
		return false
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(nc, "HEAD / HTTP/1.0\r\n\r\n"); err != nil {
		return false
	}
	answer, _ := bufio.NewReader(io.LimitReader(nc, 100)).ReadString('\n')
	return strings.HasPrefix(answer, "HTTP/")
}
