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
	okJob    = jobtype.OK
	failJob  = jobtype.Fail
	sleepJob = jobtype.Sleep
	echoJob  = jobtype.Echo
)

// job is a job that the situation adds. What is empty has a value that means nothing special.
type job struct {
	name, payload string
	duration      time.Duration // of a sleep: its payload
	ttr           time.Duration // a minute if zero
	attempts      uint64        // max-attempts
	failures      uint64        // max-fails
}

// addedJob is what is known of a job that was added.
type addedJob struct {
	job
	id      string
	leases  []*lease
	reports []*report
}

// lease is a reply that has brought a job, and report a command complete or fail about one.
type lease struct {
	at     time.Duration
	nextAt time.Duration // when the connection sent its next lease; 0 if it has not
}

type report struct {
	at         time.Duration
	verb       string
	conn       *conn
	isAnswered bool
}

// session is the server of one play, and the program on it.
type session struct {
	*fwpsituations.Play
	server  *fakeworkq.Server
	program *fwpsituations.Program
	addr    string

	mu           sync.Mutex
	hooks        []func(*fakeworkq.Event)
	conns        int
	openConns    []*conn
	jobs         map[string]*addedJob
	first        string // the verb of the first line that is a command
	line         string // the first line
	idleLeases   int    // leases that were answered with -TIMEOUT
	longestLease time.Duration
	names        map[string]bool // of leases
	brokenClause string          // the clause that a command has broken which the server cannot carry out
}

func newSession(t *fwpsituations.Play) *session {
	s := &session{Play: t, jobs: map[string]*addedJob{}, names: map[string]bool{}}
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
	for _, act := range fwpsituations.WithLock(&s.mu, func() []func(*fakeworkq.Event) { return slices.Clone(s.hooks) }) {
		act(e)
	}
}

// start starts the program, and waits for its first command.
func (s *session) start(concurrency int) (err error) {
	s.program, err = s.Start(fwpsituations.Environment{URL: "workq://" + s.addr, Concurrency: concurrency},
		func() bool { return s.firstVerb() != "" }, s.silenceReason)
	return err
}

// silenceReason says how far a program got that sent no command.
func (s *session) silenceReason() string {
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
	return fwpsituations.WithLock(&s.mu, func() string { return s.first })
}

// newID returns a UUID of version 4. (add, id)
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// push adds jobs, and returns them.
func (s *session) push(jobs ...job) (all []*addedJob) {
	for _, j := range jobs {
		k := &addedJob{job: j, id: newID()}
		if k.name == sleepJob {
			k.payload = fmt.Sprint(k.duration.Seconds())
		}
		k.ttr = cmp.Or(k.ttr, time.Minute)
		block := s.Job(k.payload, k.name, k.payload)
		if excess := len(block) - workq.MaxBlock; excess > 0 { // with what a template adds
			k.payload = k.payload[excess:]
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

func (s *session) pushMany(n int, j job) []*addedJob { return s.push(slices.Repeat([]job{j}, n)...) }

// waitLimit is how long something may take that needs no waiting.
const waitLimit = 20 * time.Second

// timeLimit is how long jobs may take that end at once: on a busy machine some workers read a large payload slowly.
func timeLimit(jobs []*addedJob) time.Duration {
	const largeSize, slow = 64 << 10, 90 * time.Second
	if slices.ContainsFunc(jobs, func(k *addedJob) bool { return len(k.payload) > largeSize }) {
		return slow
	}
	return waitLimit
}

// awaitReports waits until each of the jobs has a report for each of its leases, and at least one, no longer than a
// process lives and jobs are reported, and returns those that have none.
func (s *session) awaitReports(jobs ...*addedJob) (missing []*addedJob) {
	findMissing := func() []*addedJob {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.DeleteFunc(slices.Clone(jobs), func(k *addedJob) bool {
			return len(k.reports) >= max(1,
				len(k.leases))
		})
	}
	const extra = 5 * time.Second
	for patience, prev := timeLimit(jobs), len(jobs)+1; len(missing) < prev; patience = extra {
		prev = cmp.Or(len(missing), prev)
		if s.WaitUntil(s.program, patience, func() bool { return len(findMissing()) == 0 }) || s.HasExited(s.program) {
			return findMissing()
		}
		missing = findMissing()
	}
	return missing
}

// leasedCount returns how many of the jobs were leased.
func (s *session) leasedCount(jobs []*addedJob) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range jobs {
		n += min(1, len(k.leases))
	}
	return n
}

// missingName returns the name of one of the jobs that no lease has had; empty if there is none.
func (s *session) missingName(jobs []*addedJob) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range jobs {
		if !s.names[k.name] {
			return k.name
		}
	}
	return ""
}

// isCompleted reports whether the first report of a job is that it is complete.
func (s *session) isCompleted(k *addedJob) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(k.reports) > 0 && k.reports[0].verb == workq.Complete
}

// listener hands out connections that are looked at.
type listener struct {
	net.Listener
	session *session
}

// maxOpen is how many connections of a program are served at a time; others are closed.
const maxOpen = 500

// Accept returns the next one.
func (l listener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, l.session.Notice(err)
		}
		if c := l.session.addConn(nc); c != nil {
			return c, nil
		}
		_ = nc.Close()
	}
}
