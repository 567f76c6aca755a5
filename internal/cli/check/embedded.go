package check

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/selftest"
	"github.com/fwpsuite/fwp/internal/shortage"
)

// embed starts a server in this process that meets every need, with a fault if it is one of the catalogue. A shortage
// of this process is noticed in ctx.
func embed(
	ctx context.Context, fault fakes.Fault, config fakes.Config,
) (server conformance.Server, end func(), err error) {
	defer func() {
		if r := recover(); r != nil { // it panics when it cannot listen
			err = fmt.Errorf("start the embedded server: %v", r)
		}
	}()
	again := config
	config.Listen = loopback(ctx)
	if fault.Hook != nil {
		config.Hook = fault.Hook()
	}
	fake := fakes.NewServer(config)
	server = selftest.Offer(fake, func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		return nc, shortage.Notice(ctx, err)
	})
	server.Fresh = func() (conformance.Server, func(), error) { return embed(ctx, fault, again) }
	return server, fake.Close, nil
}

// loopback returns a function that listens on a free port of this machine, and on the same one when it is called again.
func loopback(ctx context.Context) func() (net.Listener, error) {
	addr := "127.0.0.1:0"
	return func() (net.Listener, error) {
		ln, err := new(net.ListenConfig).Listen(context.WithoutCancel(ctx), "tcp", addr)
		if err != nil {
			return nil, shortage.Notice(ctx, err)
		}
		addr = ln.Addr().String()
		return noticingListener{ln, ctx}, nil
	}
}

// noticingListener notices a shortage that keeps it from accepting a connection.
type noticingListener struct {
	net.Listener
	ctx context.Context //nolint:containedctx // Accept has none
}

func (l noticingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return nc, shortage.Notice(l.ctx, err)
}

// embedAll starts a server without and one with a password, so that every check has one.
func embedAll(ctx context.Context, fault fakes.Fault) (servers []conformance.Server, end func(), err error) {
	open, endOpen, err := embed(ctx, fault, fakes.Config{})
	if err != nil {
		return nil, nil, err
	}
	protected, endProtected, err := embed(ctx, fault, fakes.Config{Password: rand.Text()})
	if err != nil {
		endOpen()
		return nil, nil, err
	}
	return []conformance.Server{open, protected}, func() { endOpen(); endProtected() }, nil
}

// preparer returns a function that starts the server that the header of a script asks for.
func preparer(
	ctx context.Context, fault fakes.Fault,
) func(settings map[string]string) (conformance.Server, func(), error) {
	return func(settings map[string]string) (conformance.Server, func(), error) {
		config, err := embeddedConfig(settings)
		if err != nil {
			return conformance.Server{}, nil, err
		}
		return embed(ctx, fault, config)
	}
}

// settingError reports a value that a setting cannot have.
type settingError struct{ key, value, want string }

func (e *settingError) Error() string {
	return fmt.Sprintf("the embedded server's setting %s cannot be %q", e.key, e.value)
}

func checkSettings(settings map[string]string) error {
	_, err := embeddedConfig(settings)
	return err
}

// embeddedConfig returns the configuration for the settings of a script's header. A server that accepts a given hash
// has a password as well, for connections that compute the hash.
func embeddedConfig(settings map[string]string) (fakes.Config, error) {
	config := fakes.Config{Salt: settings["salt"], AcceptHash: settings["pwdhash"]}
	if text, ok := settings["iterations"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return config, &settingError{"iterations", text, "a number from 1 on"}
		}
		config.Iterations = n
	}
	var err error
	if config.StateAsSimple, err = eitherOf(settings, "state", "simple", "bulk"); err != nil {
		return config, err
	}
	if config.EndWithoutOK, err = eitherOf(settings, "end", "close", "ok"); err != nil {
		return config, err
	}
	if config.Salt != "" || config.Iterations != 0 || config.AcceptHash != "" {
		config.Password = rand.Text()
	}
	return config, nil
}

// eitherOf reads a setting of two values; yes reports whether it has the first.
func eitherOf(settings map[string]string, key, first, second string) (yes bool, err error) {
	value, ok := settings[key]
	if ok && value != first && value != second {
		return false, &settingError{key, value, first + " or " + second}
	}
	return value == first, nil
}
