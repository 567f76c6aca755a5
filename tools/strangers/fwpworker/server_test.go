package main

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// rule answers one kind of command with raw bytes.
type rule struct {
	on    string        // a regular expression for the command
	nth   int           // only the nth such command of the whole scene, if not 0
	from  int           // only the command with this number and the later ones, if not 0
	after string        // wait until the transcript matches this
	pause time.Duration // wait before the answer
	say   string        // the answer's bytes
	split bool          // send the answer in two segments
	shut  bool          // close the connection after the answer
}

// usual are the answers for which a scene has no rule. The pauses show commands that come too early.
var usual = []rule{
	{on: `^FETCH`, pause: 60 * time.Millisecond, say: "$-1\r\n"},
	{on: `^END`, pause: 60 * time.Millisecond, say: "+OK\r\n", shut: true},
	{on: ``, say: "+OK\r\n"},
}

// cutMark stands in the transcript where the server closed a connection that the client had not ended.
const cutMark = "(closed)"

// event is one line of the transcript. The side is C for the client, S for the server, ! for a line that the
// client sent before it had its answer, and x for the process.
type event struct {
	at   time.Time
	side string
	conn int
	text string
}

// server is a fake server that follows the rules of a scene and writes everything down.
type server struct {
	listener net.Listener
	scene    *scene
	serving  sync.WaitGroup
	over     chan struct{} // closed when the workers are gone

	mu     sync.Mutex
	events []event
	hits   []int
	hi     map[int]string
}

// newServer starts a server for a scene.
func newServer(t *testing.T, sc *scene) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &server{listener: listener, scene: sc, hits: make([]int, len(sc.rules)), hi: map[int]string{}}
	s.over = make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(conn, n) })
		}
	}()
	return s
}

// serve speaks with one connection.
func (s *server) serve(conn net.Conn, n int) {
	defer func() { _ = conn.Close() }()
	hi := "+HI {\"v\":2}\r\n"
	if list := s.scene.hi; len(list) > 0 {
		hi = list[min(n, len(list))-1]
	}
	s.mu.Lock()
	s.hi[n] = hi
	s.mu.Unlock()
	s.note("S", n, hi)
	if _, err := conn.Write([]byte(hi)); err != nil {
		return
	}
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			s.note("C", n, line)
		}
		if err != nil || !s.answer(conn, in, n, line) {
			return
		}
	}
}

// answer follows the rule for a line. It returns false when the connection is to be closed.
func (s *server) answer(conn net.Conn, in *bufio.Reader, n int, line string) bool {
	r := s.choose(line)
	if !s.await(r.after) {
		return false
	}
	if r.pause > 0 {
		_ = conn.SetReadDeadline(time.Now().Add(r.pause))
		if _, err := in.Peek(1); err == nil {
			early, _ := in.Peek(in.Buffered())
			s.note("!", n, string(early))
		}
		_ = conn.SetReadDeadline(time.Time{})
	}
	if r.say != "" {
		s.note("S", n, r.say)
	}
	pieces := []string{r.say}
	if r.split {
		middle := len(r.say) / 2
		pieces = []string{r.say[:middle], r.say[middle:]}
	}
	for i, piece := range pieces {
		if i > 0 {
			time.Sleep(50 * time.Millisecond)
		}
		if _, err := conn.Write([]byte(piece)); err != nil {
			return false
		}
	}
	if r.shut && !strings.HasPrefix(line, "END") {
		s.note("S", n, cutMark)
	}
	return !r.shut
}

// await waits until the transcript matches. It returns false when the scene ends before that.
func (s *server) await(expression string) bool {
	for expression != "" && !s.matches(expression) {
		select {
		case <-s.over:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

// choose counts a line for all rules of the scene that it matches, and returns the first that applies.
func (s *server) choose(line string) rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var chosen *rule
	for i := range s.scene.rules {
		r := &s.scene.rules[i]
		if !regexp.MustCompile(r.on).MatchString(line) {
			continue
		}
		s.hits[i]++
		if chosen == nil && (r.nth == 0 || r.nth == s.hits[i]) && s.hits[i] >= r.from {
			chosen = r
		}
	}
	for i := range usual {
		if chosen == nil && regexp.MustCompile(usual[i].on).MatchString(line) {
			chosen = &usual[i]
		}
	}
	return *chosen
}

// note adds a line to the transcript.
func (s *server) note(side string, conn int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event{at: time.Now(), side: side, conn: conn, text: text})
}

// all is a copy of the transcript.
func (s *server) all() []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]event(nil), s.events...)
}

// sent is what the client sent with this verb.
func (s *server) sent(verb string) []event {
	var list []event
	for _, e := range s.all() {
		if e.side == "C" && strings.HasPrefix(e.text, verb) {
			list = append(list, e)
		}
	}
	return list
}

// transcript is a readable form of all events, one to a line, in which line ends are visible.
func (s *server) transcript() string {
	visible := strings.NewReplacer("\r", "<CR>", "\n", "<LF>")
	var out strings.Builder
	for _, e := range s.all() {
		fmt.Fprintf(&out, "%s%d %s\n", e.side, e.conn, visible.Replace(e.text))
	}
	return out.String()
}

// matches says whether the transcript matches a regular expression.
func (s *server) matches(expression string) bool {
	return regexp.MustCompile(expression).MatchString(s.transcript())
}
