package situations

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// interval is the time between two heartbeats on which broker and worker have agreed.
const interval = time.Second

// request is a job: what is sent, and what has become of it.
type request struct {
	headers, message string
	duration         time.Duration // at least, until its REPLY
	at               time.Duration // when it was sent, if it was
}

func replyRequest(message string) *request {
	return &request{headers: emqp.ReplyRequested, message: message}
}

// peer is what is known of one connection of the program.
type peer struct {
	name           string
	queue          string // the first of its INFORM; empty if it has sent none
	informs        int    // INFORMs
	readies        int    // READYs that were not used up
	ids            map[string]bool
	lastHeard      time.Duration // its last message, from its first INFORM on
	lastSent       time.Duration // the last message to it
	longestSilence time.Duration // that nothing was heard
	hasLeft        bool          // it has sent KBAI
	kbaiAt         time.Duration // when it was sent KBAI; 0 if it was not
}

// session is the broker of one play, and the program on it.
type session struct {
	*fwpsituations.Play
	program *fwpsituations.Program
	addr    string
	folder  string // for files of jobs
	end     context.CancelFunc
	tasks   sync.WaitGroup

	mu              sync.Mutex
	router          *zmtp.Router
	listener        net.Listener
	isSilent        bool // nothing is sent
	conns           int
	peers           map[string]*peer // by identity
	order           []*peer
	pendingRequests []*request
	sentRequests    []*request
	replies         []string
	first           string // command that was received
	informs         int
	queues          map[string]bool // of all INFORMs
	beats           int
	steadiness      steadiness
	kbais           int
	number          int // of messages
	refusal         string
}

func newSession(t *fwpsituations.Play) *session {
	s := &session{Play: t, peers: map[string]*peer{}, queues: map[string]bool{}}
	folder, err := os.MkdirTemp("", "fwp-emqp-")
	if err != nil {
		t.GiveUp(false, "there is no folder for the files of jobs: %v", err)
	}
	s.folder = folder
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	s.end = end
	s.listen("")
	s.tasks.Go(func() {
		for machine.Sleep(ctx, interval/4) {
			s.mu.Lock()
			s.beat()
			s.mu.Unlock()
		}
	})
	return s
}

// listen starts the broker, again at an address unless that is empty.
func (s *session) listen(addr string) {
	l := s.Listen(addr)
	r := zmtp.NewRouter(zmtp.RouterConfig{
		Handover: true, OnJoin: s.addPeer, MaxPeers: 500,
		OnLeave: s.removePeer,
	})
	s.mu.Lock()
	s.addr, s.listener, s.router = l.Addr().String(), l, r
	s.mu.Unlock()
	s.tasks.Go(func() { _ = s.Notice(r.Serve(l)) }) // until the listener is closed
	s.tasks.Go(func() {
		for m, err := r.Receive(context.Background()); err == nil; m, err = r.Receive(context.Background()) {
			s.mu.Lock()
			s.receive(m.From, m.Parts)
			s.mu.Unlock()
		}
	})
}

// closeBroker ends the broker, and all connections.
func (s *session) closeBroker() {
	s.mu.Lock()
	l, r := s.listener, s.router
	s.mu.Unlock()
	l.Close()
	r.Close()
}

func (s *session) close() {
	s.end()
	s.closeBroker()
	s.tasks.Wait()
	_ = os.RemoveAll(s.folder) // nothing can be done about it
}

func (s *session) addPeer(identity string, _ zmtp.Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
	p := &peer{name: fmt.Sprint("c", s.conns), ids: map[string]bool{}}
	s.peers[identity] = p
	s.order = append(s.order, p)
	s.steadiness.lastMessage = s.Now()
	s.show(p, reports.FromSuite, "opened", false)
}

func (s *session) removePeer(identity string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peers[identity]
	if p == nil {
		s.conns++
		s.refusal = text.FirstLine(err.Error())
		return
	}
	if !errors.Is(err, zmtp.ErrTaken) { // the one who took it is there
		delete(s.peers, identity)
	}
	s.show(p, reports.FromSuite, "closed: "+text.FirstLine(err.Error()), true)
}

// show adds a line to the conversation, and returns it. The lock is held.
func (s *session) show(p *peer, from, words string, isEnd bool) reports.Line {
	l := reports.Line{At: s.Now(), Conn: p.name, From: from, Text: words, IsEnd: isEnd}
	s.Show(l)
	return l
}

// excerpt returns a message as the conversation has it.
func excerpt(frames [][]byte) string {
	const limit = 120
	words := make([]string, len(frames))
	for i, f := range frames {
		if words[i] = fmt.Sprintf("%q", f[:min(len(f), limit)]); len(f) > limit {
			words[i] += fmt.Sprintf("... (%d bytes)", len(f))
		}
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// idPrefix stands before the number of a message in its id.
const idPrefix = "broker-"

// send sends a message to a peer. The lock is held.
func (s *session) send(identity string, p *peer, m emqp.Message) bool {
	s.number++
	if m.ID == "" {
		m.ID = fmt.Sprint(idPrefix, s.number)
	}
	p.lastSent = s.Now()
	s.show(p, reports.FromServer, excerpt(m.Frames()), false)
	return s.router.Send(identity, m.Frames()...) == nil
}

// sendAll sends a message to every peer that has sent an INFORM.
func (s *session) sendAll(m emqp.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for identity, p := range s.peers {
		if p.informs > 0 {
			s.steadiness.hasEnded = true
			if m.Command == emqp.KBAI {
				p.kbaiAt, p.readies = s.Now(), 0
			}
			s.send(identity, p, m)
		}
	}
}

// beat sends HEARTBEATs that are due. The lock is held.
func (s *session) beat() {
	for identity, p := range s.peers {
		if p.informs > 0 && !p.hasLeft && p.kbaiAt == 0 && !s.isSilent && s.Now()-p.lastSent >= interval*3/4 {
			s.send(identity, p, emqp.Heartbeat("", time.Now()))
		}
	}
}

// push gives the broker requests, which go to the program as soon as it is ready.
func (s *session) push(requests ...*request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pendingRequests = append(s.pendingRequests, requests...)
	s.dispatch()
}

// dispatch sends requests to peers that are ready. The lock is held.
func (s *session) dispatch() {
	for identity, p := range s.peers {
		for p.readies > 0 && p.informs > 0 && len(s.pendingRequests) > 0 && !p.hasLeft && p.kbaiAt == 0 && !s.isSilent {
			r := s.pendingRequests[0]
			r.at = s.Now()
			if !s.send(identity, p, emqp.Message{Command: emqp.REQUEST, Fields: [][]byte{
				[]byte(p.queue), []byte(r.headers), []byte(s.jobMessage(r.message)),
			}}) {
				break
			}
			p.readies--
			s.pendingRequests, s.sentRequests = s.pendingRequests[1:], append(s.sentRequests, r)
		}
	}
}

// start starts the program, and waits for its first message.
func (s *session) start(concurrency int) (err error) {
	s.program, err = s.Start(fwpsituations.Environment{
		URL: "emqp://" + s.addr, Concurrency: concurrency, Heartbeat: interval,
	}, func() bool { return s.firstCommand() != "" }, s.silenceReason)
	return err
}

// silenceReason says how far a program got that sent no message.
func (s *session) silenceReason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.refusal != "":
		return "its connection did not speak ZeroMQ's protocol: " + s.refusal
	case s.conns == 0:
		return "it opened no connection"
	}
	return "it opened a connection and sent no message"
}

func (s *session) firstCommand() string {
	return fwpsituations.WithLock(&s.mu, func() string { return s.first })
}

// count returns a counter of the session.
func (s *session) count(counter *int) int {
	return fwpsituations.WithLock(&s.mu, func() int { return *counter })
}

func (s *session) replyCount() int {
	return fwpsituations.WithLock(&s.mu, func() int { return len(s.replies) })
}

// requestCount returns how many requests the program was sent.
func (s *session) requestCount() int {
	return fwpsituations.WithLock(&s.mu, func() int { return len(s.sentRequests) })
}
