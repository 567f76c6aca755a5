package situations

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/jobtype"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// The names of the jobs that a worker has, as docs/judging-workers.md describes them.
const (
	ok    = jobtype.OK
	fails = jobtype.Fail
	sleep = jobtype.Sleep
	echo  = jobtype.Echo
)

// job is a job that the situation adds. What is empty has a value that means nothing special.
type job struct {
	name, payload string
	takes         time.Duration // of a sleep: its payload
	ttr           time.Duration // a minute if zero
	attempts      uint64        // max-attempts
	failures      uint64        // max-fails
}

// known is what is known of a job that was added.
type known struct {
	job
	id     string
	leases []*lease
	report []*report
}

// lease is a reply that has brought a job, and report a command complete or fail about one.
type lease struct {
	at   time.Duration
	next time.Duration // when the connection sent its next lease; 0 if it has not
}

type report struct {
	at       time.Duration
	verb     string
	conn     *conn
	answered bool
}

// session is the server of one play, and the program on it.
type session struct {
	*fwpsituations.Play
	server  *fakeworkq.Server
	program *fwpsituations.Program
	addr    string

	mu      sync.Mutex
	hooks   []func(*fakeworkq.Event)
	conns   int
	open    []*conn
	jobs    map[string]*known
	first   string // the verb of the first line that is a command
	line    string // the first line
	idle    int    // leases that were answered with -TIMEOUT
	longest time.Duration
	names   map[string]bool // of leases
	spoiled string          // the clause that a command has broken which the server cannot carry out
}

func newSession(t *fwpsituations.Play) *session {
	s := &session{Play: t, jobs: map[string]*known{}, names: map[string]bool{}}
	l := t.Listen("")
	s.addr = l.Addr().String()
	s.server = fakeworkq.NewServer(fakeworkq.Config{Hook: s.hook})
	go s.server.Serve(listener{l, s})
	return s
}

func (s *session) close() { s.server.Close() }

// follow has the server follow a rule.
func (s *session) follow(text string) {
	r, err := fakeworkq.Rules().Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, text)) // a play finds it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, r.Hook())
}

func (s *session) hook(e *fakeworkq.Event) {
	for _, act := range fwpsituations.Locked(&s.mu, func() []func(*fakeworkq.Event) { return slices.Clone(s.hooks) }) {
		act(e)
	}
}

// start starts the program, and waits for its first command.
func (s *session) start(concurrency int) (err error) {
	s.program, err = s.Start(fwpsituations.Environment{URL: "workq://" + s.addr, Concurrency: concurrency},
		func() bool { return s.firstVerb() != "" }, s.whySilent)
	return err
}

// whySilent says how far a program got that sent no command.
func (s *session) whySilent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.line != "":
		return "the first line that it sent is not a command: " + s.line
	case s.conns == 0:
		return "it opened no connection"
	case s.conns == 1:
		return "it opened a connection and sent no line"
	}
	return fmt.Sprintf("it opened %d connections and sent no line", s.conns)
}

func (s *session) firstVerb() string {
	return fwpsituations.Locked(&s.mu, func() string { return s.first })
}

// newID returns a UUID of version 4. (add, id)
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// push adds jobs, and returns them.
func (s *session) push(jobs ...job) (all []*known) {
	for _, j := range jobs {
		k := &known{job: j, id: newID()}
		if k.name == sleep {
			k.payload = fmt.Sprint(k.takes.Seconds())
		}
		k.ttr = cmp.Or(k.ttr, time.Minute)
		block := s.Job(k.payload, k.name, k.payload)
		if more := len(block) - workq.MaxBlock; more > 0 { // with what a template adds
			k.payload = k.payload[more:]
			block = s.Job(k.payload, k.name, k.payload)
		}
		s.mu.Lock()
		s.jobs[k.id] = k
		s.mu.Unlock()
		const life = 3_600_000
		s.server.Put(workq.Command{
			Verb: workq.Add, ID: k.id, Names: []string{k.name}, TTL: life, Block: []byte(block),
			TTR:         uint64(k.ttr.Milliseconds()), //nolint:gosec // a table has it
			MaxAttempts: k.attempts, MaxFails: k.failures,
		})
		all = append(all, k)
	}
	return all
}

func (s *session) pushMany(n int, j job) []*known { return s.push(slices.Repeat([]job{j}, n)...) }

// soon is how long something may take that needs no waiting.
const soon = 20 * time.Second

// within is how long jobs may take that end at once: on a busy machine some workers read a large payload slowly.
func within(jobs []*known) time.Duration {
	const large, slow = 64 << 10, 90 * time.Second
	if slices.ContainsFunc(jobs, func(k *known) bool { return len(k.payload) > large }) {
		return slow
	}
	return soon
}

// unreported waits until each of the jobs has a report for each of its leases, and at least one, no longer than a
// process lives and jobs are reported, and returns those that have none.
func (s *session) unreported(jobs ...*known) (missing []*known) {
	lacking := func() []*known {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.DeleteFunc(slices.Clone(jobs), func(k *known) bool { return len(k.report) >= max(1, len(k.leases)) })
	}
	const further = 5 * time.Second
	for patience, before := within(jobs), len(jobs)+1; len(missing) < before; patience = further {
		before = cmp.Or(len(missing), before)
		if s.Until(s.program, patience, func() bool { return len(lacking()) == 0 }) || s.Exited(s.program) {
			return lacking()
		}
		missing = lacking()
	}
	return missing
}

// leased returns how many of the jobs were leased.
func (s *session) leased(jobs []*known) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range jobs {
		n += min(1, len(k.leases))
	}
	return n
}

// unnamed returns the name of one of the jobs that no lease has had; empty if there is none.
func (s *session) unnamed(jobs []*known) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range jobs {
		if !s.names[k.name] {
			return k.name
		}
	}
	return ""
}

// completed reports whether the first report of a job is that it is complete.
func (s *session) completed(k *known) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(k.report) > 0 && k.report[0].verb == workq.Complete
}

// listener hands out connections that are looked at.
type listener struct {
	net.Listener
	session *session
}

// mostOpen is how many connections of a program are served at a time; others are closed.
const mostOpen = 500

// Accept returns the next one.
func (l listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, l.session.Notice(err)
		}
		if c := l.session.opened(nc); c != nil {
			return c, nil
		}
		_ = nc.Close()
	}
}
