package blockq

import (
	"errors"
	"net"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/internal/serving"
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

	clients serving.Group
	mu      sync.Mutex
	waiting map[string][]*job // by queue, the oldest first
	jobs    map[string]*job   // by id, until done
}

type job struct {
	id    string
	block []byte
	taken bool
}

// Serve accepts connections from l and serves each on a goroutine of its own. It closes l and returns nil after
// [Server.Close], and the error of l otherwise.
func (s *Server) Serve(l net.Listener) error { return s.clients.Serve(l, s.serve) }

// Close closes all listeners and connections and waits until no connection is served any more. The error is always nil.
func (s *Server) Close() error {
	s.clients.Close()
	return nil
}

// serve serves a connection until either side closes it.
func (s *Server) serve(conn net.Conn) {
	var in []byte
	chunk := make([]byte, 4096)
	for joined := false; ; {
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
			out = answer("ERR", "malformed")
		case command.Words[0] == "bye":
			return
		default:
			if out = s.carryOut(command, &joined); s.Fault == Silent && joined && command.Words[0] == "done" {
				out = nil
			}
		}
		if _, err := conn.Write(out); err != nil || n == 0 {
			return
		}
		in = in[n:]
	}
}

func answer(words ...string) []byte { return Append(nil, Line{Words: words}) }

// carryOut applies a command to the queues, and returns the reply.
func (s *Server) carryOut(c Line, joined *bool) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := c.Words[len(c.Words)-1] // an id or a queue
	j := s.jobs[last]
	switch verb := c.Words[0]; {
	case verb == "ping":
	case verb == "join" && *joined:
		return answer("ERR", "joined already")
	case verb == "join":
		*joined = true
	case !*joined:
		return answer("ERR", "join first")
	case verb == "take":
		return s.take(last)
	case verb == "count":
		return answer("COUNT", strconv.Itoa(len(s.waiting[last])))
	case verb == "put":
		return s.put(c.Words[1], last, c.Block)
	case verb == "done" && j != nil && j.taken:
		delete(s.jobs, last)
	case verb == "done":
		return answer("ERR", "unknown")
	}
	return answer("OK")
}

// put adds a job to a queue, unless there is one with its id.
func (s *Server) put(queue, id string, block []byte) []byte {
	if s.jobs[id] != nil {
		return answer("ERR", "duplicate")
	}
	if s.Fault == Lost {
		return answer("OK")
	}
	if s.jobs == nil {
		s.jobs, s.waiting = map[string]*job{}, map[string][]*job{}
	}
	j := &job{id: id, block: block}
	s.jobs[id] = j
	s.waiting[queue] = append(s.waiting[queue], j)
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
