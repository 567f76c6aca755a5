package workq

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Config configures a server. Its zero value works.
type Config struct {
	// Hook sees and changes what the server does; nil changes nothing. It is called by several goroutines at once.
	Hook func(*Event)

	// What the document leaves to a server.
	LastFirst    bool // of the jobs of one priority the one that was added last is leased first
	Reversed     bool // inspect jobs shows the jobs that are leased last first
	RetainQueues bool // inspect shows queues whose jobs are gone
	LineByLine   bool // what follows a line that is malformed is read as the next command, also if it is a block
}

// Server is a Workq server in memory. All methods are safe for concurrent use.
type Server struct {
	config    Config
	store     *store.Store[*entry, struct{}]
	startTime time.Time
	done      chan struct{}  // closed by Close
	clock     sync.WaitGroup // the clock of the store
	group     store.Group
	clients   atomic.Int64 // that are connected

	mu        sync.Mutex // never held while the store is called, which calls back under its own lock
	isClosed  bool
	conns     int               // that were accepted
	jobs      map[string]*entry // by id
	names     map[string]bool   // of the queues that stay
	serial    int               // of jobs
	evictions int
}

// NewServer returns a server without jobs. [Server.Close] ends it.
func NewServer(config Config) *Server {
	s := &Server{
		config: config, startTime: time.Now(), done: make(chan struct{}),
		jobs: map[string]*entry{}, names: map[string]bool{},
	}
	s.store = store.New(store.Config[*entry, struct{}]{
		Enqueue: func(e *entry, _ time.Time) *entry { return e },
		IsBefore: func(e, earlier *entry) bool {
			return e.Priority > earlier.Priority || config.LastFirst && e.Priority == earlier.Priority
		},
		Expire: s.expire, Policy: policy{s},
	})
	s.clock.Go(func() { s.store.Run(struct{}{}, s.done) })
	return s
}

// Serve accepts connections and serves each on goroutines of its own. It blocks until the listener fails or the server
// is closed, and closes the listener.
func (s *Server) Serve(l net.Listener) {
	_ = s.group.Serve(l, func(nc net.Conn) { // the listener is the caller's, who sees its error too
		s.mu.Lock()
		s.conns++
		c := &conn{server: s, nc: nc, number: s.conns, done: make(chan struct{}), commands: make(chan parsedCommand)}
		s.mu.Unlock()
		s.clients.Add(1)
		defer s.clients.Add(-1)
		c.serve()
	})
}

// Close closes all listeners and connections, and waits until nothing runs any more.
func (s *Server) Close() {
	s.mu.Lock()
	if s.isClosed {
		s.mu.Unlock()
		return
	}
	s.isClosed = true
	close(s.done)
	for _, e := range s.jobs {
		e.stop()
	}
	s.mu.Unlock()
	s.group.Close()
	s.clock.Wait()
}

// conn is one connection. A goroutine reads, so that a wait ends when the client is gone.
type conn struct {
	server   *Server
	nc       net.Conn
	number   int
	count    int // of commands
	done     chan struct{}
	commands chan parsedCommand
}

// parsedCommand is a command, or what is wrong with it; isFatal means that nothing behind it can be read.
type parsedCommand struct {
	command workq.Command
	err     error
	isFatal bool
}

// serve answers commands one after the other until either side closes the connection.
func (c *conn) serve() {
	s := c.server
	var reading sync.WaitGroup
	reading.Go(c.read)
	defer reading.Wait()
	defer c.nc.Close()
	if s.ask(Event{Point: Accepted, Conn: c.number}).Skip {
		return
	}
	for {
		select {
		case p, ok := <-c.commands:
			if !ok || !c.answer(p) || p.isFatal {
				return
			}
		case <-s.done:
			return
		}
	}
}

// answer runs one command and writes the reply. It returns false if the connection is over.
func (c *conn) answer(p parsedCommand) bool {
	s := c.server
	c.count++
	e := s.ask(Event{Point: Parsed, Conn: c.number, Count: c.count, Command: p.command, Err: p.err})
	reply, skip := e.Reply, e.Skip
	switch {
	case skip:
	case e.Err != nil:
		reply = workq.Reply{Error: workq.ClientError, Text: e.Err.Error()}
	default:
		var ok bool
		if reply, ok = c.run(e.Command); !ok {
			return false
		}
	}
	event := s.ask(Event{Point: Ran, Conn: c.number, Count: c.count, Command: e.Command, Err: e.Err, Reply: reply})
	if event.Skip {
		return !event.Close
	}
	w := s.ask(Event{
		Point: Writing, Conn: c.number, Count: c.count, Command: e.Command, Err: e.Err,
		Reply: event.Reply, Bytes: workq.AppendReply(nil, event.Reply),
	})
	if !w.Skip && !c.write(w) {
		return false
	}
	return !event.Close && !w.Close
}

// write sends an answer, in pieces if the hook says so. It returns false if the connection is over.
func (c *conn) write(e *Event) bool {
	for rest := e.Bytes; len(rest) > 0; {
		n := len(rest)
		if e.Chunk > 0 && e.Chunk < n {
			n = e.Chunk
		}
		if _, err := c.nc.Write(rest[:n]); err != nil {
			return false
		}
		if rest = rest[n:]; len(rest) > 0 {
			time.Sleep(e.Pause)
		}
	}
	return true
}

// next reads the command at the beginning of buf as [workq.ParseCommand] does.
func (s *Server) next(buf []byte) (command workq.Command, n int, err error) {
	command, n, err = workq.ParseCommand(buf)
	end := bytes.IndexByte(buf, '\n') + 1
	if !s.config.LineByLine || err == nil || end == 0 {
		return command, n, err
	}
	line := strings.TrimSuffix(string(buf[:end]), "\r\n")
	if _, parseErr := workq.ParseLine(line); parseErr != nil {
		return command, end, parseErr
	}
	words := slices.DeleteFunc(strings.Split(line, " "), func(w string) bool { return strings.Contains(w, "=") })
	if size, _ := strconv.Atoi(words[len(words)-1]); end+size+2 <= len(buf) { // the block has another size
		return command, end + size + 2, err
	}
	return command, 0, workq.ErrShort
}

// read reads commands until the connection ends or cannot be understood any more.
func (c *conn) read() {
	defer close(c.commands)
	defer close(c.done)
	var buf []byte
	chunk := make([]byte, 32<<10)
	for {
		command, n, err := c.server.next(buf)
		if errors.Is(err, workq.ErrShort) {
			n, err := c.nc.Read(chunk)
			if n == 0 && err != nil {
				if len(buf) > 0 {
					c.server.ask(Event{Point: Unfinished, Conn: c.number, Bytes: buf})
				}
				return
			}
			buf = append(buf, chunk[:n]...)
			continue
		}
		command.Block = append([]byte{}, command.Block...)
		select {
		case c.commands <- parsedCommand{command, err, err != nil && n == 0}:
		case <-c.server.done:
			return
		}
		if err != nil && n == 0 {
			_, _ = discard(c.nc)
			return
		}
		buf = buf[n:]
	}
}

// discard reads what a client sends that cannot be understood, so that the end of the connection does not overtake
// the answer.
func discard(nc net.Conn) (n int, err error) {
	const limit = 8 << 20
	buf := make([]byte, 32<<10)
	for n < limit && err == nil {
		var size int
		size, err = nc.Read(buf)
		n += size
	}
	return n, err
}
