package target

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// defaultPort is where FWP servers listen unless configured otherwise.
const defaultPort = "7419"

const (
	schemeTCP = "tcp"
	schemeTLS = "tcp+tls"
)

// Scheme is that of the URLs of another protocol than FWP.
type Scheme struct {
	Name    string // of the protocol, with which its URLs begin
	Port    string // where its servers listen unless configured otherwise
	Backend string // where they take workers unless the URL has a port; empty: servers have one port
}

// findScheme returns the scheme of a name, whose case does not count; the zero Scheme if it is not among them.
func findScheme(name string, all []Scheme) (scheme Scheme) {
	if i := slices.IndexFunc(all, func(s Scheme) bool { return strings.EqualFold(s.Name, name) }); i >= 0 {
		scheme = all[i]
	}
	return scheme
}

// urlForm is the form of a URL.
const urlForm = "tcp://[:PASSWORD@]HOST[:PORT] or tcp+tls://..."

// Address is the place of a server, from its URL.
type Address struct {
	Protocol string // the name of the protocol, if it is not FWP
	TLS      bool
	Host     string // a name or an IP address, IPv6 without brackets
	Port     string // a number
	Backend  string // the port for workers, a number; empty: they connect to Port, too
	Password string // empty if the URL has none
}

// ParseURL reads tcp://[:password@]host[:port] and tcp+tls://..., and the same with one of the other schemes in the
// place of tcp. The port is 7419, or that of the scheme, if there is none, the name of a user does not matter, and the
// password is percent-encoded where it has to be. The port for workers of a server that can have two is written
// scheme://host:port?backend=port; without it they connect to the same port or, if the URL has no port, to that of the
// scheme. No error holds any part of the URL that may be the password.
func ParseURL(raw string, others ...Scheme) (Address, error) {
	name, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return Address{}, notAURL(raw)
	}
	scheme, port := findScheme(name, others), defaultPort
	a := Address{Protocol: scheme.Name, TLS: strings.EqualFold(name, schemeTLS)}
	switch {
	case scheme.Name != "":
		port = scheme.Port
	case !a.TLS && !strings.EqualFold(name, schemeTCP):
		return Address{}, unknownScheme(name, others)
	}
	rest, backend, hasBackend := strings.Cut(rest, backendMark)
	if hasBackend && (scheme.Backend == "" || !isPort(backend)) {
		return Address{}, fmt.Errorf("?backend= works only at the end of a URL of %s, with a port number",
			brokers(others))
	}
	user, hostport, err := splitUser(rest)
	if err != nil {
		return Address{}, err
	}
	if a.Backend = backend; !hasBackend && !portSuffix.MatchString(hostport) {
		a.Backend = scheme.Backend
	}
	if _, password, ok := strings.Cut(user, ":"); ok {
		if a.Password, err = url.PathUnescape(password); err != nil {
			return Address{}, errors.New("the password is not percent-encoded: write % as %25")
		}
	}
	a.Host, a.Port, err = splitHostPort(hostport, port)
	return a, err
}

// brokers returns the names of the schemes whose servers can have two ports.
func brokers(all []Scheme) string {
	var names []string
	for _, s := range all {
		if s.Backend != "" {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " and ")
}

// backendMark stands in a URL before the port for workers.
const backendMark = "?backend="

// portSuffix matches a host with a port.
var portSuffix = regexp.MustCompile(`:[0-9]+$`)

func isPort(s string) bool {
	number, err := strconv.ParseUint(s, 10, 16)
	return err == nil && number > 0
}

// hostAndPort matches what cannot be a password: there is no @ in it, and a number behind the colon.
var hostAndPort = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// notAURL returns an error that repeats the text only if no part of it can be a password.
func notAURL(raw string) error {
	if !hostAndPort.MatchString(raw) {
		return fmt.Errorf("this is not a server URL; use %s", urlForm)
	}
	return fmt.Errorf("%q is not a server URL; use tcp://%s", raw, raw)
}

func unknownScheme(scheme string, others []Scheme) error {
	var names []string
	for _, s := range others {
		names = append(names, s.Name)
	}
	help := text.DidYouMean(text.Candidates(strings.ToLower(scheme), names)...)
	if help != "" {
		help = "; " + help
	} else if len(names) > 0 {
		help = "; for other protocols it is " + strings.Join(names, ":// or ") + "://"
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
		help = "; http is for the web page of a server, its port for jobs is another one"
	case "tls", "ssl", "tcps", "tcp+ssl", "tcptls":
		help = "; with TLS it is tcp+tls://"
	}
	return fmt.Errorf("unknown scheme %q: use %s%s", scheme, urlForm, help)
}

// splitUser splits before the last @. Characters that end the authority of a URL must be encoded in a password.
func splitUser(rest string) (user, hostport string, err error) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if strings.Contains(tail, "@") {
		return "", "", errors.New("in a password, write / as %2F, ? as %3F and # as %23")
	}
	if strings.Trim(tail, "/") != "" {
		return "", "", fmt.Errorf("the URL must end with the port: use %s", urlForm)
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		return authority[:at], authority[at+1:], nil
	}
	return "", authority, nil
}

func splitHostPort(hostport, fallback string) (host, port string, err error) {
	if inner, ok := strings.CutPrefix(hostport, "["); ok {
		host, port, err = splitIPv6(inner)
	} else if host, port, _ = strings.Cut(hostport, ":"); strings.Contains(port, ":") {
		return "", "", errors.New("write an IPv6 address in brackets: tcp://[::1]:7419")
	} else if strings.ContainsAny(host, "%[]") || strings.ContainsFunc(host, isBlank) {
		return "", "", errors.New("a host must not contain blanks, %, [ or ]")
	}
	switch {
	case err != nil:
		return "", "", err
	case host == "":
		return "", "", fmt.Errorf("the host is missing: use %s", urlForm)
	case port == "":
		return host, fallback, nil
	case !isPort(port):
		return "", "", errors.New("the port is not a number from 1 to 65535")
	}
	return host, port, nil
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// splitIPv6 reads what follows the opening bracket of an IPv6 address.
func splitIPv6(inner string) (host, port string, err error) {
	host, after, ok := strings.Cut(inner, "]")
	if !ok {
		return "", "", errors.New("a bracket is not closed: an IPv6 address looks like [::1]")
	}
	host = strings.Replace(host, "%25", "%", 1) // the zone of a link-local address
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Is6() {
		return "", "", errors.New("only an IPv6 address has brackets, as in [::1]")
	}
	port, ok = strings.CutPrefix(after, ":")
	if !ok && after != "" {
		return "", "", errors.New("after the closing bracket write : and the port")
	}
	return host, port, nil
}

// HostPort returns the address to dial, "127.0.0.1:7419" or "[::1]:7419".
func (a Address) HostPort() string { return net.JoinHostPort(a.Host, a.Port) }

// String returns the URL without the password.
func (a Address) String() string {
	url := a.scheme() + "://" + a.encodedHostPort()
	if a.Backend != "" {
		url += backendMark + a.Backend
	}
	return url
}

// MaskedURL returns the URL with the word PASSWORD in the place of the password, if
// there is one: a form to fill in.
func (a Address) MaskedURL() string {
	if a.Password == "" {
		return a.String()
	}
	return a.scheme() + "://:PASSWORD@" + a.encodedHostPort()
}

func (a Address) scheme() string {
	switch {
	case a.Protocol != "":
		return a.Protocol
	case a.TLS:
		return schemeTLS
	}
	return schemeTCP
}

func (a Address) encodedHostPort() string { return strings.Replace(a.HostPort(), "%", "%25", 1) }

// user matches what is between :// and the last @ of a line.
var user = regexp.MustCompile(`://[^\n]*@`)

// Redact removes from a text what may be the password of a URL. It may remove
// more than that, but keeps the forms that this package prints itself.
func Redact(text string) string {
	return user.ReplaceAllStringFunc(text, func(found string) string {
		if found == "://:PASSWORD@" || found == "://[:PASSWORD@" {
			return found
		}
		return "://***@"
	})
}
