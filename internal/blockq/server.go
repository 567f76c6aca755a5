package blockq

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/internal/session"
)

// Fault names one way in which a Server breaks the protocol. The empty Fault is none.
type Fault string

// The faults.
const (
	DeliveredTwice Fault = "delivered-twice" // take hands out each job twice
	Lost           Fault = "lost"            // a job that was put never appears
	Silent         Fault = "silent"          // done is carried out and not answered
	Foreign        Fault = "foreign"         // take answers COUNT where JOB is due
	BlockShort     Fault = "block-short"     // JOB announces one byte more than its block has
)

// Server keeps queues in memory. Its zero value is ready, and all methods are safe for concurrent use. It must not be
// copied.
type Server struct {
	// Fault is what the server does wrong; set it before the first connection.
	Fault Fault

	mu      sync.Mutex
	waiting map[string][]*job  // by queue, the oldest first
	jobs    map[string]*job    // by id, until done
	open    map[io.Closer]bool // listeners and connections
	closed  bool
	served  sync.WaitGroup // connections
}

type job struct {
	id    string
	block []byte
	taken bool
}

// Serve accepts connections from l and serves each on a goroutine of its own. It closes l and returns nil after
// [Server.Close], and the error of l otherwise.
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
		if s.add(conn) {
			s.served.Go(func() { s.serve(conn) })
		}
	}
}

// serve serves a connection until either side closes it.
func (s *Server) serve(conn net.Conn) {
	defer s.remove(conn)
	var in []byte
	chunk := make([]byte, 4096)
	for joined, left := false, false; !left; {
		command, n, err := Parse(in)
		var out []byte
		switch {
		case errors.Is(err, session.ErrShort):
			k, err := conn.Read(chunk)
			if in = append(in, chunk[:k]...); err != nil && k == 0 {
				return
			}
			continue
		case err != nil:
			out, left = failure("malformed"), n == 0
		case command.Words[0] == "bye":
			left = true
		case command.Words[0] == "ping":
			out = answer("OK")
		case command.Words[0] == "join" && joined:
			out = failure("joined already")
		case command.Words[0] == "join":
			out, joined = answer("OK"), true
		case !joined:
			out = failure("join first")
		default:
			if out = s.carryOut(command); s.Fault == Silent && command.Words[0] == "done" {
				out = nil
			}
		}
		in = in[n:]
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

func answer(words ...string) []byte { return Append(nil, Line{Words: words}) }

func failure(reason string) []byte { return answer("ERR", reason) }

// Close closes all listeners and connections and waits until no connection is served any more. The error is always nil.
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
func (s *Server) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close() // as above
		return false
	}
	if s.open == nil {
		s.open, s.jobs, s.waiting = map[io.Closer]bool{}, map[string]*job{}, map[string][]*job{}
	}
	s.open[c] = true
	return true
}

func (s *Server) remove(c io.Closer) {
	_ = c.Close() // as above
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// carryOut applies a command of a client that has joined to the queues, and returns the reply.
func (s *Server) carryOut(c Line) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := c.Words[len(c.Words)-1] // an id or a queue
	j := s.jobs[last]
	switch {
	case c.Words[0] == "take":
		return s.take(last)
	case c.Words[0] == "count":
		return answer("COUNT", strconv.Itoa(len(s.waiting[last])))
	case c.Words[0] == "put" && j != nil:
		return failure("duplicate")
	case c.Words[0] == "put" && s.Fault != Lost:
		s.jobs[last] = &job{id: last, block: c.Block}
		s.waiting[c.Words[1]] = append(s.waiting[c.Words[1]], s.jobs[last])
	case c.Words[0] == "done" && (j == nil || !j.taken):
		return failure("unknown")
	case c.Words[0] == "done":
		delete(s.jobs, last)
	}
	return answer("OK")
}

// take hands out the oldest job of a queue.
func (s *Server) take(queue string) []byte {
	waiting := s.waiting[queue]
	if len(waiting) == 0 {
		return answer("NONE")
	}
	j := waiting[0]
	if s.Fault != DeliveredTwice || j.taken {
		s.waiting[queue] = waiting[1:]
	}
	j.taken = true
	switch s.Fault {
	case Foreign:
		return answer("COUNT", "1")
	case BlockShort:
		return appendBlock([]byte("JOB "+j.id), len(j.block)+1, j.block)
	}
	return Append(nil, Line{Words: []string{"JOB", j.id}, Block: j.block})
}
