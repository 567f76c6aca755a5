package blockq

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// Server keeps queues in memory. Its zero value is ready, and all methods are safe
// for concurrent use. It must not be copied.
type Server struct {
	// Fault is what the server does wrong; set it before the first connection.
	Fault Fault

	mu      sync.Mutex
	waiting map[string][]*job // by queue, the oldest first
	jobs    map[string]*job   // by id, until done
	open    map[closer]bool   // listeners and connections
	closed  bool
	served  sync.WaitGroup // connections
}

type closer interface{ Close() error }

type job struct {
	id    string
	block []byte
	taken bool
}

// Serve accepts connections from l and serves each on a goroutine of its own. It
// closes l and returns nil after [Server.Close], and the error of l otherwise.
func (s *Server) Serve(l net.Listener) error {
	if !s.add(l) {
		return nil
	}
	defer s.remove(l)
	for {
		conn, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.closed {
				return nil
			}
			return err
		}
		go s.ServeConn(conn)
	}
}

// ServeConn serves conn until either side closes it, and closes it.
func (s *Server) ServeConn(conn net.Conn) {
	if !s.add(conn) {
		return
	}
	defer s.served.Done()
	defer s.remove(conn)
	peer := client{server: s}
	in := stream{src: conn}
	for !peer.left {
		command, n, err := ParseCommand(in.buffered())
		var out []byte
		switch {
		case errors.Is(err, ErrShort):
			if in.fill() != nil {
				return
			}
			continue
		case err != nil:
			out = AppendReply(nil, Reply{Kind: Err, Reason: err.Error()})
			peer.left = n == 0
		default:
			out = peer.answer(command)
		}
		in.consume(n)
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// Close closes all listeners and connections and waits until no connection is
// served any more. The error is always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		_ = c.Close() // what it may report is known: it is closed
	}
	s.mu.Unlock()
	s.served.Wait()
	return nil
}

// add notes what Close has to close, and closes it at once if Close was called.
func (s *Server) add(c closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close() // as above
		return false
	}
	if s.open == nil {
		s.open = make(map[closer]bool)
	}
	s.open[c] = true
	if _, ok := c.(net.Conn); ok {
		s.served.Add(1)
	}
	return true
}

func (s *Server) remove(c closer) {
	_ = c.Close() // as above
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// client is one connection as the server sees it.
type client struct {
	server *Server
	joined bool
	left   bool // after bye, or where no further command can be found
}

// answer carries out c and returns the bytes to send.
func (p *client) answer(c Command) []byte {
	switch {
	case c.Verb == VerbBye:
		p.left = true
		return nil
	case c.Verb == VerbPing:
		return AppendReply(nil, Reply{Kind: OK})
	case c.Verb == VerbJoin && p.joined:
		return AppendReply(nil, Reply{Kind: Err, Reason: "joined already"})
	case c.Verb == VerbJoin:
		p.joined = true
		return AppendReply(nil, Reply{Kind: OK})
	case !p.joined:
		return AppendReply(nil, Reply{Kind: Err, Reason: "join first"})
	}
	reply := p.server.carryOut(c)
	switch {
	case p.server.Fault == Silent && c.Verb == VerbDone:
		return nil
	case p.server.Fault == Foreign && reply.Kind == Job:
		reply = Reply{Kind: Count, N: 1}
	case p.server.Fault == BlockShort && reply.Kind == Job:
		return appendBlock([]byte("JOB "+reply.ID), len(reply.Block)+1, reply.Block)
	}
	return AppendReply(nil, reply)
}

// carryOut applies a command of a client that has joined to the queues.
func (s *Server) carryOut(c Command) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.Verb {
	case VerbPut:
		return s.put(c)
	case VerbTake:
		return s.take(c.Queue)
	case VerbDone:
		if j := s.jobs[c.ID]; j == nil || !j.taken {
			return Reply{Kind: Err, Reason: "unknown"}
		}
		delete(s.jobs, c.ID)
		return Reply{Kind: OK}
	default: // count
		return Reply{Kind: Count, N: len(s.waiting[c.Queue])}
	}
}

func (s *Server) put(c Command) Reply {
	switch {
	case s.jobs[c.ID] != nil:
		return Reply{Kind: Err, Reason: "duplicate"}
	case s.Fault == Lost:
		return Reply{Kind: OK}
	case s.jobs == nil:
		s.jobs, s.waiting = make(map[string]*job), make(map[string][]*job)
	}
	j := &job{id: c.ID, block: slices.Clone(c.Block)}
	s.jobs[c.ID] = j
	s.waiting[c.Queue] = append(s.waiting[c.Queue], j)
	return Reply{Kind: OK}
}

func (s *Server) take(queue string) Reply {
	waiting := s.waiting[queue]
	if len(waiting) == 0 {
		return Reply{Kind: None}
	}
	j := waiting[0]
	if s.Fault != DeliveredTwice || j.taken {
		s.waiting[queue] = waiting[1:]
	}
	j.taken = true
	return Reply{Kind: Job, ID: j.id, Block: j.block}
}
