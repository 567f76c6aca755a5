package run_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// mortals starts servers that end at deadly commands, and counts them.
type mortals struct {
	deadly func(*mortalTarget, *fakes.Event) bool // nil: isBareFail

	mu      sync.Mutex
	targets []*mortalTarget
	ended   int
}

func (m *mortals) start() (run.Server, func(), error) {
	time.Sleep(time.Second) // several checks wait for the server, in virtual time
	m.mu.Lock()
	defer m.mu.Unlock()
	target := &mortalTarget{memoryTarget: *newTarget()}
	m.targets = append(m.targets, target)
	deadly := isBareFail
	if m.deadly != nil {
		deadly = func(e *fakes.Event) bool { return m.deadly(target, e) }
	}
	s := fakes.NewServer(fakes.Config{Hook: target.hook(deadly), Listen: target.Listen})
	server := run.Server{
		Target: target, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedRestart}, Ended: target.ended,
		StartServer: m.start,
	}
	return server, func() {
		s.Close()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended++
	}, nil
}

// Where servers can be started, each hostile check has one for itself, which another one uses behind it if it serves
// still: what waits meanwhile on the shared one is played once. Where they start slowly, hostile checks are played one
// at a time on the only one, which is started again.
func TestHostileChecksEndNoServerOfOthers(t *testing.T) {
	t.Parallel()
	const deaths = 20
	sources := copies(deaths, "deadly", hostileDeadly)
	sources["hostile"] = hostileTwin
	maps.Copy(sources, copies(5, "sleeps", sleeping))
	all, want := scripts(t, sources), map[string]string{"hostile": "pass"}
	for i := range 5 {
		want[fmt.Sprintf("sleeps%02d", i)] = "pass"
	}
	for i := range deaths {
		want[fmt.Sprintf("deadly%02d", i)] = "crash"
	}
	for _, isSlow := range []bool{false, true} {
		t.Run(fmt.Sprint("slow ", isSlow), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := new(mortals)
				server, end, _ := m.start()
				defer end()
				server.IsSlow = isSlow
				report := runnerOn(server, all).Run(t.Context())
				assert.Equal(t, want, verdictsOf(report))
				for _, c := range report.Checks {
					assert.Equal(t, 1, c.Attempts, c.ID)
				}
				starts, restarts := 2+deaths, int64(0)
				if isSlow {
					starts, restarts = 1, deaths
				}
				assert.InDelta(t, starts, len(m.targets), 1, "the last one may have survived another check")
				assert.Equal(t, len(m.targets)-1, m.ended)
				assert.InDelta(t, restarts, m.targets[0].restarts.Load(), 1, "there may be none behind the last one")
			})
		})
	}
}

// Hostile checks that their server survives leave it to others, one at a time.
func TestHostileChecksUseServersOneAfterTheOther(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(40, "hostile", "connect as consumer\nclause FWP-ACK-03\nC bad: ACK\nS: -\n"))
	synctest.Test(t, func(t *testing.T) {
		m := new(mortals)
		server, end, _ := m.start()
		defer end()
		r := runnerOn(server, all)
		r.Parallel = len(all)
		assert.Equal(t, reports.ExitWell, r.Run(t.Context()).ExitCode(reports.ExitOptions{}))
		assert.Len(t, m.targets, 1+8, "and the one for others")
		assert.Equal(t, 8, m.ended)
	})
}

// Hostile checks that wait for seconds wait together in a quick run, also on the only server.
func TestHostileChecksWaitTogether(t *testing.T) {
	t.Parallel()
	const waits = "waits: 2s\nconnect as consumer\nclause FWP-ACK-03\nC bad: ACK\nS: -\nC: FETCH q\nS: $-1\n"
	all := scripts(t, copies(3, "hostile", waits))
	for isQuick, took := range map[bool]time.Duration{false: 6 * time.Second, true: 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			server, end, _ := new(mortals).start()
			defer end()
			server.StartServer = nil
			r := runnerOn(server, all)
			r.Quick = isQuick
			report := r.Run(t.Context())
			assert.Equal(t, reports.ExitWell, report.ExitCode(reports.ExitOptions{}))
			assert.Equal(t, took, report.Took.Truncate(time.Second), "quick %t", isQuick)
		})
	}
}

// Where each reply takes long to come, a quick run has no time for one hostile check after the other.
func TestHostileChecksOnAServerThatIsFarAway(t *testing.T) {
	t.Parallel()
	all := scripts(t, copies(20, "hostile", "connect as consumer\nclause FWP-ACK-03\nC bad: ACK\nS: -\n"))
	took := map[bool]time.Duration{}
	for _, isQuick := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			target := newTarget()
			s := fakes.NewServer(fakes.Config{Listen: target.Listen, Hook: func(e *fakes.Event) {
				if e.Point == fakes.Writing {
					e.Delay = 100 * time.Millisecond
				}
			}})
			defer s.Close()
			r := runnerOn(run.Server{Target: target, Offers: []scenarios.Need{scenarios.NeedOpen}}, all)
			r.Quick = isQuick
			report := r.Run(t.Context())
			assert.Equal(t, reports.ExitWell, report.ExitCode(reports.ExitOptions{}))
			took[isQuick] = report.Took
		})
	}
	assert.Less(t, 2*took[true], took[false])
}

// A server may end some time after the command that ends it, when the next check has it: the check that sent the
// command is the crash. Where the command needs luck, both are named.
func TestAServerThatEndsLaterIsNoCrashOfTheNextCheck(t *testing.T) {
	t.Parallel()
	const later, deadlyEnd = 300 * time.Millisecond, "connect as consumer\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n"
	sources := copies(3, "next", "connect as consumer\nsilence 1s\nclause FWP-ACK-03\nC bad: ACK\nS: -\n")
	sources["deadly"] = deadlyEnd
	all := scripts(t, sources)
	for endsAlways, want := range map[bool]map[string]string{
		true:  {"deadly": "crash", "next00": "pass", "next01": "pass", "next02": "pass"},
		false: {"deadly": "pass", "next00": "pass", "next01": "pass", "next02": "pass", run.CrashCheck: "crash"},
	} {
		synctest.Test(t, func(t *testing.T) {
			deaths := 0
			m := &mortals{deadly: func(target *mortalTarget, e *fakes.Event) bool {
				if isBareFail(e) && (endsAlways || deaths == 0) {
					deaths++
					time.AfterFunc(later, func() { target.isDead.Store(true) })
				}
				return false
			}}
			server, end, _ := m.start()
			defer end()
			r := runnerOn(server, all)
			r.Parallel = 1
			report := r.Run(t.Context())
			assert.Equal(t, want, verdictsOf(report))
			for _, c := range report.Checks {
				if c.ID == run.CrashCheck {
					assert.Contains(t, c.Findings[0].Actual, "while these checks ran:\n  deadly\n  next0")
				}
			}
			assert.Equal(t, reports.ExitFindings, report.ExitCode(reports.ExitOptions{}))
		})
	}
}

// A server that ends when the last check is over is the crash of that check, too.
func TestAServerThatEndsBehindTheLastCheck(t *testing.T) {
	t.Parallel()
	const later = 300 * time.Millisecond
	all := scripts(t, map[string]string{
		"deadly": "connect as consumer\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n", "long": sleeping,
	})
	synctest.Test(t, func(t *testing.T) {
		m := &mortals{deadly: func(target *mortalTarget, e *fakes.Event) bool {
			if isBareFail(e) {
				time.AfterFunc(later, func() { target.isDead.Store(true) })
			}
			return false
		}}
		server, end, _ := m.start()
		defer end()
		report := runnerOn(server, all).Run(t.Context())
		assert.Equal(t, map[string]string{"deadly": "crash", "long": "pass"}, verdictsOf(report))
		assert.Len(t, m.targets, m.ended+1, "the shared one is left")
	})
}

// A run that is interrupted while it looks for the check that ended a server reports the crash all the same.
func TestAnInterruptedSearchReportsTheCrash(t *testing.T) {
	t.Parallel()
	all := scripts(t, map[string]string{
		"deadly": "connect as consumer\nclause FWP-FAIL-02\nC bad: FAIL\nS: -\n",
		"next":   "waits: 2s\nconnect as consumer\nsilence 1s\nclause FWP-ACK-03\nC bad: ACK\nS: -\nsilence 1s\n",
	})
	synctest.Test(t, func(t *testing.T) {
		m := &mortals{deadly: func(target *mortalTarget, e *fakes.Event) bool {
			if isBareFail(e) {
				time.AfterFunc(1500*time.Millisecond, func() { target.isDead.Store(true) })
			}
			return false
		}}
		server, end, _ := m.start()
		defer end()
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		startServer, starts := server.StartServer, 0
		server.StartServer = func() (run.Server, func(), error) {
			if starts++; starts > 1 {
				interrupt()
			}
			return startServer()
		}
		r := runnerOn(server, all)
		r.Parallel, r.Quick = 1, true // the shortest first
		assert.Equal(t, "crash", verdictsOf(r.Run(ctx))[run.CrashCheck])
	})
}
