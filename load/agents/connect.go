package agents

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/fwpsuite/fwp/internal/wait"
)

// Access is how a NATS server is reached. The zero value of a field is none.
type Access struct {
	URL         string      // nats://[TOKEN@|USER:PASSWORD@]HOST[:PORT], or tls://
	Credentials string      // a file of NATS credentials
	TLS         *tls.Config // for tls://, beside the system's authorities
	Token       string      // for a server that wants one, if the URL has none
}

// UserOf returns what stands before the @ of a URL without a password, which is a token; empty if there is none.
func UserOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return ""
	}
	if _, has := u.User.Password(); has {
		return ""
	}
	return u.User.Username()
}

// errRefused is why a server does not let a client in.
var errRefused = errors.New(
	"the server refuses the token, or the user and password: those of the coordinator are others")

// reconnectWait is how long a connection that was lost waits between two attempts to open it again.
const reconnectWait = 100 * time.Millisecond

// Connect connects to a NATS server. A connection that is lost later is opened again for as long as it takes:
// heartbeats say whether that was in time. name is what the server calls it.
func Connect(a Access, name string, more ...nats.Option) (*nats.Conn, error) {
	options := append([]nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.Timeout(requestLimit),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // each wait has an end of its own
	}, more...)
	if a.Token != "" && UserOf(a.URL) == "" {
		options = append(options, nats.Token(a.Token))
	}
	if a.Credentials != "" {
		options = append(options, nats.UserCredentials(a.Credentials))
	}
	if a.TLS != nil {
		options = append(options, nats.Secure(a.TLS))
	}
	conn, err := nats.Connect(a.URL, options...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, errRefused
	case errors.Is(err, nats.ErrNoServers):
		return nil, fmt.Errorf("no NATS server answers at %s", addressOf(a.URL))
	case err != nil:
		return nil, fmt.Errorf("connect to NATS at %s: %w", addressOf(a.URL), err)
	}
	return conn, nil
}

// addressOf returns the hosts and ports of a URL, or of several with commas between, without what is secret in it.
func addressOf(urls string) string {
	var hosts []string
	for raw := range strings.SplitSeq(urls, ",") {
		_, after, found := strings.Cut(raw, "://")
		if !found {
			after = raw
		}
		hosts = append(hosts, after[strings.LastIndex(after, "@")+1:])
	}
	return strings.Join(hosts, ", ")
}

// ConnectWithin is Connect for the server of a coordinator, which may not be there yet: it tries again until it is, or
// the time is up.
func ConnectWithin(ctx context.Context, a Access, name string, within time.Duration) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		conn, err := Connect(a, name)
		if err == nil || errors.Is(err, errRefused) {
			return conn, err
		}
		if !wait.Sleep(ctx, heartbeat/4) {
			return nil, fmt.Errorf("%w, within %v. Expected is that of a coordinator, which must run first: "+
				"fwpbench run --agents N prints the command for its agents. Check the host and port, and "+
				"whether a firewall is between", err, within)
		}
	}
}
