package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Server is one server that checks can be run against, and what it offers.
type Server struct {
	Target   scenarios.Target
	Password string
	Offers   []scenarios.Need
}

// Runner runs checks. Servers and Scripts must be set; the zero value of
// everything else works. A Runner is used once.
type Runner struct {
	Servers []Server
	Scripts []*scenarios.Script // what was selected
	Left    []*scenarios.Script // what the selection left out, told as such

	// Prepare makes an embedded server with the settings of a script's header;
	// nil where there is none. The returned function ends it.
	Prepare func(settings map[string]string) (Server, func(), error)
	// Provide says for each need how the user can offer it.
	Provide map[scenarios.Need]string
	// Reproduce is the command that runs one check again.
	Reproduce func(check string) string

	Timeout  time.Duration // see scenarios.Player
	Patience time.Duration // see scenarios.Player
	Parallel int           // checks at a time; 8 if zero
	Seed     uint64        // of the order and of the names; the names also hold the time, so that runs do not meet

	Watch    func(check string, line scenarios.Line) // told each line of every conversation; calls may come side by side
	Progress func(done, total int, check string)     // told when a check is over; calls may come side by side
}

const (
	defaultParallel = 8
	retriesAlone    = 3 // of checks that time or connecting left undecided
)

// Run runs the checks and returns their report, without target and version.
// It blocks until all are over; when ctx is done it ends early, and the report
// says so and holds what was gained.
func (r *Runner) Run(ctx context.Context) *reports.Report {
	s := &session{Runner: r, start: time.Now(), meter: new(scenarios.Meter),
		checks: make([]reports.Check, len(r.Scripts)), undecided: make([]bool, len(r.Scripts))}
	measuring, stop := context.WithCancel(ctx)
	var meter sync.WaitGroup
	meter.Go(func() { s.meter.Run(measuring) })

	order := rand.New(rand.NewPCG(r.Seed, r.Seed)).Perm(len(r.Scripts))
	together, alone := s.sort(order)
	s.all(ctx, together, r.parallel())
	s.all(ctx, alone, 1)
	s.again(ctx, order)

	stop()
	meter.Wait()
	return s.report(ctx)
}

func (r *Runner) parallel() int {
	if r.Parallel > 0 {
		return r.Parallel
	}
	return defaultParallel
}

// session is one run.
type session struct {
	*Runner
	start time.Time
	meter *scenarios.Meter

	mu        sync.Mutex
	checks    []reports.Check // in the order of Scripts
	undecided []bool          // those that may be decided by another try
	plays     int
	done      int
	crashed   string // the check after which the server no longer served
	err       error  // a fault of ours
}

// exclusive needs touch what all clients of a server share.
var exclusive = []scenarios.Need{scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill}

// sort tells the checks that may run side by side from those that run alone,
// and answers those that no server can serve.
func (s *session) sort(order []int) (together, alone []int) {
	for _, i := range order {
		script := s.Scripts[i]
		missing := s.missing(script)
		switch {
		case missing != "":
			s.checks[i] = s.notOffered(script, missing)
			s.tell(script.Name)
		case slices.ContainsFunc(script.Needs, func(n scenarios.Need) bool { return slices.Contains(exclusive, n) }):
			alone = append(alone, i)
		default:
			together = append(together, i)
		}
	}
	return together, alone
}

// missing is the need that no server meets, or "".
func (s *session) missing(script *scenarios.Script) scenarios.Need {
	if slices.Contains(script.Needs, scenarios.NeedEmbedded) {
		if s.Prepare == nil {
			return scenarios.NeedEmbedded
		}
		return ""
	}
	var missing scenarios.Need
	for _, server := range s.Servers {
		i := slices.IndexFunc(script.Needs, func(n scenarios.Need) bool { return !slices.Contains(server.Offers, n) })
		if i < 0 {
			return ""
		}
		missing = script.Needs[i]
	}
	return missing
}

// server is where a script is played; release ends what was made for it.
func (s *session) server(script *scenarios.Script) (server Server, release func(), err error) {
	if script.Embedded != nil {
		return s.Prepare(script.Embedded)
	}
	for _, server := range s.Servers {
		if !slices.ContainsFunc(script.Needs, func(n scenarios.Need) bool { return !slices.Contains(server.Offers, n) }) {
			return server, func() {}, nil
		}
	}
	return Server{}, nil, fmt.Errorf("no server offers what %s needs", script.Name)
}

// all runs checks, so many at a time.
func (s *session) all(ctx context.Context, checks []int, parallel int) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, i := range checks {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			s.check(ctx, i)
			s.tell(s.Scripts[i].Name)
		})
	}
	wg.Wait()
}

// again runs checks alone that time or connecting has left undecided.
func (s *session) again(ctx context.Context, order []int) {
	for _, i := range order {
		for s.undecided[i] && s.checks[i].Attempts <= retriesAlone && ctx.Err() == nil {
			s.check(ctx, i)
		}
	}
}

func (s *session) tell(check string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	if s.Progress != nil {
		s.Progress(s.done, len(s.Scripts), check)
	}
}

// names is a prefix for the names of one play that no other play has, here or
// in another run.
func (s *session) names() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plays++
	return fmt.Sprintf("fwp%s%04x-%d", s.start.UTC().Format("0102150405"), (s.Seed^uint64(s.start.Nanosecond()))&0xffff, s.plays)
}

// check plays one script and files what it says.
func (s *session) check(ctx context.Context, i int) {
	script := s.Scripts[i]
	attempts := s.checks[i].Attempts
	if by := s.crashedBy(); by != "" {
		s.checks[i] = s.unanswered(script, reports.Undecided, fmt.Sprintf("the server no longer served after %s", by), "")
		return
	}
	if ctx.Err() != nil {
		s.checks[i] = s.unanswered(script, reports.NotRun, "the run was interrupted before", "")
		return
	}
	server, release, err := s.server(script)
	if err != nil {
		s.fault(err)
		s.checks[i] = s.unanswered(script, reports.Undecided, err.Error(), "")
		return
	}
	defer release()
	defer func() { // a fault of ours must not cost what others have found out
		if p := recover(); p != nil {
			s.fault(fmt.Errorf("check %s: %v\n%s", script.Name, p, debug.Stack()))
			s.checks[i] = s.unanswered(script, reports.Undecided, "the suite itself failed", "")
		}
	}()
	player := &scenarios.Player{Target: server.Target, Password: server.Password, Timeout: s.Timeout, Patience: s.Patience, Meter: s.meter}
	if s.Watch != nil {
		player.Watch = func(l scenarios.Line) { s.Watch(script.Name, l) }
	}
	run := player.Play(ctx, script, s.names())
	s.checks[i], s.undecided[i] = s.verdicts(run)
	s.checks[i].Attempts = attempts + 1
}

// crashedBy is the check that ended the server, or "".
func (s *session) crashedBy() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashed
}

// crash files the first check after which the server no longer served; false
// for all others.
func (s *session) crash(check string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed == "" {
		s.crashed = check
	}
	return s.crashed == check
}

func (s *session) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// report puts the answers together.
func (s *session) report(ctx context.Context) *reports.Report {
	rep := &reports.Report{Started: s.start, Took: time.Since(s.start), Seed: s.Seed, Interrupted: ctx.Err() != nil}
	if s.err != nil {
		rep.Internal = s.err.Error()
	}
	rep.Checks = s.checks
	for _, script := range s.Left {
		rep.Checks = append(rep.Checks, s.unanswered(script, reports.NotSelected, "the selection leaves it out", ""))
	}
	slices.SortFunc(rep.Checks, func(a, b reports.Check) int { return strings.Compare(a.ID, b.ID) })
	rep.Clauses = s.clauses(rep.Checks)
	return rep
}
