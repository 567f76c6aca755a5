package selftest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// TestEnds: what is said of the end of a process, behind SIGTERM and behind the order to terminate.
func TestEnds(t *testing.T) {
	t.Parallel()
	exits := func(after time.Duration) func(*fakeworker.Event) {
		return func(e *fakeworker.Event) {
			if e.Point == fakeworker.Exiting {
				e.Delay = after
			}
		}
	}
	deaf := func(e *fakeworker.Event) { e.Skip = e.Skip || e.Point == fakeworker.Ordered && e.Signal != "" }
	greets := func(e *fakeworker.Event) {
		if e.Point == fakeworker.Introducing {
			e.Fields["pid"] = 7
		}
	}
	const passed, long = "pass : ", 61 * time.Second
	chain := catalogue.Chain[fakeworker.Event]
	for _, row := range []struct {
		name, check      string
		hook             func(*fakeworker.Event)
		runPIDs, endPIDs []int         // processes before the end of COMMAND, and behind it
		grace            time.Duration // --grace
		want             string
	}{
		{"conforms", "signal/term-idle", nil, nil, nil, 0, passed},
		{"conforms", "signal/term-long-job", nil, nil, nil, 0, passed},
		{"conforms", "terminate/idle", nil, nil, nil, 0, passed},
		{"after 29 s", "signal/term-idle", exits(27 * time.Second), nil, nil, 0, passed},
		{"after 40 s", "signal/term-idle", exits(40 * time.Second), nil, nil, 0, "warn : it ended 4"},
		{"never", "signal/term-idle", exits(long), nil, nil, 0,
			"fail no shutdown: does not end: 60 s after SIGTERM its process is still there"},
		{"never", "signal/term-short-job", exits(long), nil, nil, 0, "fail no shutdown: does not end: 60 s after SIGTERM"},
		{"never", "terminate/idle", exits(long), nil, nil, 0,
			"fail no shutdown: does not end: 60 s after the order to terminate"},
		{"deaf", "signal/term-idle", deaf, nil, nil, 0, "fail no shutdown: does not end: 60 s after SIGTERM"},
		{"deaf", "terminate/idle", deaf, nil, nil, 0, passed},
		{"deaf, below a shell", "signal/term-idle", chain(deaf, greets), []int{6, 7}, nil, 0,
			"fail no shutdown: does not end: 60 s after SIGTERM pid 7 is still there; the signal went to COMMAND (pid 6), " +
				"which may not hand it on"},
		{"outlives its shell", "signal/term-short-job", greets, []int{6, 7}, []int{7}, 0,
			"fail no shutdown: COMMAND (pid 6) ended "},
		{"others outlive it", "signal/term-idle", greets, []int{7, 8}, []int{8}, 0, passed},
		{"has pids of another namespace", "signal/term-idle", nil, []int{7, 8}, []int{8}, 0,
			"fail no shutdown: COMMAND (pid 7) ended "},
		{"in its grace", "signal/term-short-job", nil, nil, nil, 10 * time.Second, passed},
		{"killed at work", "signal/term-long-job", nil, nil, nil, 10 * time.Second,
			"fail jobs lost: it was still there 10s after SIGTERM, and was killed: 1 jobs had no report"},
		{"killed without a job", "signal/term-idle", exits(long), nil, nil, 10 * time.Second,
			"fail no shutdown: it was still there 10s after SIGTERM, and was killed"},
	} {
		t.Run(row.name+" "+row.check, func(t *testing.T) {
			t.Parallel()
			var bugs []registry.Bug
			if row.hook != nil {
				bugs = append(bugs, registry.FWPClientBug(fakeworker.Bug{
					Configure: func(c *fakeworker.Config) { c.Hook = row.hook },
				}))
			}
			var h *fwpsituations.Harness
			report := playClient(t, func(harness *fwpsituations.Harness) {
				h, harness.Grace = harness, row.grace
				harness.Launcher = family{harness.Launcher, row.runPIDs, row.endPIDs}
			}, bugs, row.check)
			got := verdictText(report, "FWP-WRK-18")
			assert.True(t, strings.HasPrefix(got, row.want), "%s %v", got, h.Observations())
			assert.Len(t, h.Observations(), 1, "the end is told")
			for _, f := range report.Findings() {
				assert.Equal(t, "FWP-WRK-18", f.Clause, f.Actual)
			}
		})
	}
}

// TestARestartByItsParent: a parent that starts another worker in the place of one that was told to end is not blamed.
func TestARestartByItsParent(t *testing.T) {
	t.Parallel()
	report := playClient(t, func(h *fwpsituations.Harness) { h.Launcher = restarting{h.Launcher} }, nil, "terminate/idle")
	assert.Equal(t, "pass : ", verdictText(report, "FWP-WRK-18"))
}

// verdictText returns what a report of one check says about a clause.
func verdictText(report *reports.Report, clause string) (got string) {
	for _, cv := range report.Checks[0].Clauses {
		if cv.ID == clause {
			got = fmt.Sprintf("%s : %s", cv.Verdict, cv.Cause)
		}
	}
	for _, f := range slices.Backward(report.Findings()) {
		if f.Clause == clause {
			got = fmt.Sprintf("%s %s: %s", f.Verdict, f.Harm, f.Actual)
		}
	}
	return got
}

// family is a launcher of programs below which others run.
type family struct {
	fwpsituations.Launcher

	runPIDs, endPIDs []int
}

func (l family) Launch(e fwpsituations.Environment) (fwpsituations.Process, error) {
	p, err := l.Launcher.Launch(e)
	return &relative{p, l.runPIDs, l.endPIDs}, err
}

type relative struct {
	fwpsituations.Process

	runPIDs, endPIDs []int
}

func (p *relative) Descendants() []int { return p.runPIDs }
func (p *relative) Leftovers() []int   { return p.endPIDs }

// Signal sends it; a COMMAND that others outlive ends at once.
func (p *relative) Signal(name string) {
	if len(p.endPIDs) > 0 {
		p.runPIDs = nil
	}
	p.Process.Signal(name)
}

// restarting is a launcher of a parent that starts another worker when one has ended.
type restarting struct{ fwpsituations.Launcher }

func (l restarting) Launch(e fwpsituations.Environment) (fwpsituations.Process, error) {
	first, err := l.Launcher.Launch(e)
	if err != nil {
		return nil, err
	}
	p := &processPair{Process: first, done: make(chan struct{})}
	started := make(chan struct{})
	go func() {
		defer close(started)
		<-first.Done()
		p.second, err = l.Launcher.Launch(e)
	}()
	return parent{p, started}, nil
}

// parent is the process of such a parent, which ends when it is killed.
type parent struct {
	*processPair

	started <-chan struct{} // closed when the second worker was started
}

func (p parent) Kill() {
	p.Process.Kill()
	<-p.started
	p.second.Kill()
	close(p.done)
}
