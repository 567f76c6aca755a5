package agents

import (
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// ServerConfig is an embedded NATS server.
type ServerConfig struct {
	Listen string // HOST:PORT; port 0 is any that is free; empty: only this process can connect
	Token  string // which clients have to know
	TLS    *tls.Config
	// Refused, if set, is called with the name and the address of a client that has another token. It is called by
	// several goroutines.
	Refused func(name, address string)
}

// Server is a NATS server in this process: its core, without JetStream, and with one token. Clients of other processes
// are agents: they may publish and subscribe to the subjects of these, and to no others.
type Server struct{ server *server.Server }

// serverLimit is how long the server may take until it accepts connections.
const serverLimit = 10 * time.Second

// StartServer starts a NATS server, which serves until Close.
func StartServer(config ServerConfig) (*Server, error) {
	options := &server.Options{
		ServerName: "fwpbench", NoSigs: true, NoLog: true, DontListen: config.Listen == "",
		CustomClientAuthentication: tokenCheck{config.Token, config.Refused}, TLSConfig: config.TLS,
	}
	if config.Listen != "" {
		host, port, err := net.SplitHostPort(config.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("listen: %q is not a port", port)
		}
		if options.Host, options.Port = host, int(number); number == 0 {
			options.Port = server.RANDOM_PORT
		}
		probe, err := net.Listen("tcp", config.Listen) //nolint:noctx // the server would end the process for want of it
		if err != nil {
			return nil, err
		}
		_ = probe.Close() // nothing was written
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(serverLimit) {
		s.Shutdown()
		return nil, errors.New("the embedded NATS server did not start")
	}
	return &Server{s}, nil
}

// Address returns HOST:PORT, nil if the server does not listen.
func (s *Server) Address() net.Addr { return s.server.Addr() }

// Connect connects this process to the server, without a network.
func (s *Server) Connect(token, name string) (*nats.Conn, error) {
	return Connect(Access{Token: token}, name, nats.InProcessServer(s.server))
}

// Close ends the server and its connections.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// tokenCheck lets clients in that know a token. Those of other processes may do what agents do.
type tokenCheck struct {
	token   string
	refused func(name, address string)
}

// Check implements server.Authentication.
func (t tokenCheck) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	address, here := "this process", true
	if from := c.RemoteAddress(); from != nil && from.Network() == "tcp" {
		address, here = from.String(), false
	}
	known := subtle.ConstantTimeCompare([]byte(o.Token), []byte(t.token)) == 1
	switch {
	case known && !here:
		c.RegisterUser(&server.User{Permissions: subjectsOf(t.token).ofAgents()})
	case !known && t.refused != nil:
		t.refused(o.Name, address)
	}
	return known
}

// ofAgents returns what an agent may do: it asks and reports, and hears the state of the run and the replies. It hears
// no other agent, and speaks for no coordinator.
func (s subjects) ofAgents() *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{s.join, s.clock, s.tick, s.jobs + "*", s.done + "*"}},
		Subscribe: &server.SubjectPermission{Allow: []string{s.state, nats.InboxPrefix + ">"}},
	}
}
