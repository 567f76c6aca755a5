package fakes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Server is a server of the Faktory Work Protocol. Its methods are safe for concurrent use.
//
// [Server.Restart], [Server.Kill] and [Server.Signal] are the actions of an operator; jobs survive restarts.
// [Server.Advance] moves the clock, so that no test has to wait. It has its own checks of HELLO and of work units and
// its own password hash.
//
// [Config.Hook] changes the behaviour. It is called with an [Event] at every step of the server, from the first byte
// received to the last byte sent, and may change the event.
type Server struct {
	// Config may be changed until Start is called.
	Config Config

	cfg       Config
	verbs     map[string]verb // by their verbs
	store     *store.Store[*job, *Event]
	workers   workers
	startTime time.Time
	ledger    ledger
	secret    uint64 // of salts and iterations
	commands  atomic.Int64
	clock     sync.WaitGroup
	done      chan struct{} // closed by Close
	serving   sync.WaitGroup

	life      sync.Mutex  // held by Close, Restart and Kill
	isLeaving atomic.Bool // a restart refuses commands

	mu       sync.Mutex
	ln       net.Listener // nil while the server does not listen
	addr     string
	conns    map[*conn]struct{}
	lastID   int64
	isClosed bool
}

// NewServer starts a server and returns it. The caller must call [Server.Close]. It panics if the server cannot
// listen.
func NewServer(config Config) *Server {
	s := NewUnstarted(config)
	s.Start()
	return s
}

// NewUnstarted returns a server that does not listen yet. Its Config may be changed before [Server.Start].
func NewUnstarted(config Config) *Server {
	return &Server{Config: config}
}

// Start starts a server of [NewUnstarted]. It panics if the server was started before or cannot listen.
func (s *Server) Start() {
	if err := s.TryStart(); err != nil {
		panic(fmt.Sprintf("fakes: listen: %v", err))
	}
}

// TryStart is [Server.Start], but returns an error if the server cannot listen. It panics if the server was started
// before.
func (s *Server) TryStart() error {
	if s.store != nil {
		panic("fakes: Start of a server that was started before")
	}
	s.cfg = s.Config
	s.cfg.fill()
	s.startTime = time.Now()
	if s.secret = s.cfg.Seed; s.secret == 0 {
		s.secret = rand.Uint64()
	}
	s.done = make(chan struct{})
	s.conns = make(map[*conn]struct{})
	s.workers.byWID = make(map[string]*worker)
	s.verbs = s.cfg.Extension.verbs()
	s.store = s.newStore()
	if err := s.load(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	s.clock.Go(func() { s.store.Run(&Event{}, s.done) })
	return nil
}

// listen opens the listener and accepts connections on it.
func (s *Server) listen() error {
	listen := s.cfg.Listen
	if listen == nil {
		listen = s.loopback
	}
	socket, err := listen()
	if err != nil {
		return err
	}
	ln := &listener{socket}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		ln.Close()
		return errors.New("listen: the server is closed")
	}
	s.ln, s.addr = ln, ln.Addr().String()
	s.serving.Go(func() { s.accept(ln) })
	return nil
}

// listener is one that can be compared with another, whatever the type of the caller's is.
type listener struct{ net.Listener }

func (s *Server) loopback() (net.Listener, error) {
	addr := cmp.Or(s.Addr(), "127.0.0.1:0")
	return new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
}

func (s *Server) accept(ln net.Listener) {
	for {
		nc, err := ln.Accept()
		if err == nil {
			s.admit(ln, nc)
			continue
		}
		if !s.isListening(ln) || errors.Is(err, net.ErrClosed) {
			return
		}
		if !machine.Wait(s.done, 10*time.Millisecond) { // out of file descriptors, for example
			return
		}
	}
}

func (s *Server) isListening(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ln == ln
}

func (s *Server) admit(ln net.Listener, nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln != ln {
		nc.Close()
		return
	}
	s.lastID++
	c := newConn(s, nc, s.lastID)
	c.isOverLimit = s.cfg.MaxConnections > 0 && len(s.conns) >= s.cfg.MaxConnections
	s.conns[c] = struct{}{}
	s.serving.Go(c.serve)
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Addr returns the address of the server, such as "127.0.0.1:41327". It is "" before the start.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// URL returns the address for clients, with the password, such as "tcp://127.0.0.1:41327" or
// "tcp+tls://:secret@127.0.0.1:41327".
func (s *Server) URL() string {
	u := url.URL{Scheme: "tcp", Host: s.Addr()}
	if s.cfg.TLS != nil {
		u.Scheme = "tcp+tls"
	}
	if s.cfg.Password != "" {
		u.User = url.UserPassword("", s.cfg.Password)
	}
	return u.String()
}
