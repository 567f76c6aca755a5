package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// crossing is how far a run is whose jobs cross to others.
type crossing struct {
	said bool          // that its pushes are answered
	all  chan struct{} // closed when those of all runs are, or when they are waited for no longer
	err  error         // why they are not; set before all is closed
	stop context.CancelFunc
}

// crosses reports whether jobs cross to other runs.
func (r *run) crosses() bool { return r.config.Crossing != nil }

// pushedAll reports whether all runs have pushed what they push. The first call says that this one has.
func (r *run) pushedAll() bool {
	if !r.crosses() {
		return true
	}
	c := &r.crossing
	if !c.said {
		var ctx context.Context
		ctx, c.stop = context.WithCancel(context.Background())
		c.said, c.all = true, make(chan struct{})
		go func() {
			defer close(c.all)
			c.err = r.config.Crossing.Pushed(ctx)
		}()
	}
	return closed(c.all)
}

// closed reports whether a channel is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitOthers blocks until all runs have pushed what they push, and returns why they have not in the time that there
// is.
func (r *run) awaitOthers(patient func() bool) error {
	if !r.crosses() {
		return nil
	}
	r.until(context.Background(), func() bool { return r.pushedAll() || !patient() })
	late := !r.pushedAll()
	r.crossing.stop()
	if <-r.crossing.all; late {
		return errors.New("other agents still pushed when the time for the drain was up")
	}
	return r.crossing.err
}

// part returns the run's part of the account of the jobs, nil if it is the whole.
func (r *run) part() []byte {
	if !r.crosses() {
		return nil
	}
	var out bytes.Buffer
	if err := r.ledger.Encode(&out); err != nil {
		return nil // a buffer takes everything
	}
	return out.Bytes()
}

// Crossed is what JoinCrossed needs to know of a load whose jobs crossed.
type Crossed struct {
	Workload workload.Workload // of the whole load
	Seed     uint64
	Run      string // the name of its queues and jobs

	ClauseOf func(breach string) string // as those of a Config
	LevelOf  func(clause string) reports.Level
}

// JoinCrossed is Join for runs between which jobs crossed: the accounts of the parts are joined into one. A part
// without an account was lost: then it is not known whether jobs were.
func JoinCrossed(parts []Part, of Crossed) (*Result, error) {
	result, err := Join(parts)
	if err != nil {
		return nil, err
	}
	var accounts []io.Reader
	var lost results.LoadJobs
	missing := ""
	for i := range parts {
		if parts[i].Account == nil {
			missing = cmp.Or(missing, parts[i].Agent.Name)
			results.Join(&lost, &parts[i].Report.Jobs)
			continue
		}
		accounts = append(accounts, bytes.NewReader(parts[i].Account))
	}
	joined, err := ledger.Join(missing == "", accounts...)
	if err != nil {
		return nil, err
	}
	l := result.Report
	a := account{
		ledger: joined, jobs: of.Workload.Jobs(of.Run, of.Seed), drained: l.Jobs.Drained && missing == "",
		notDrained: l.Jobs.NotDrained, takenAtEnd: l.Jobs.TakenAtEnd - lost.TakenAtEnd,
	}
	if missing != "" {
		a.notDrained = fmt.Sprintf("agent %s has sent no account, so what it has pushed and fetched is not known", missing)
	}
	for i := range parts {
		a.clockSet = a.clockSet || len(parts[i].Report.Health.ClockJumps) > 0
	}
	l.Jobs = a.report()
	results.Join(&l.Jobs, &lost)
	if missing != "" { // as far as the lost agent has said what it pushed and fetched
		l.Jobs.Missing = max(0, l.Jobs.Pushed-l.Jobs.Delivered)
		l.Jobs.InDoubt = min(l.Jobs.Missing, l.Jobs.FetchesLost)
	}
	c := clauses{of.ClauseOf, of.LevelOf}
	l.Findings = append(c.rank(c.name(a.findings())), l.Findings...)
	l.ClockBound = clockBound(parts)
	judge.Evaluate(l)
	return result, nil
}

// clockBound returns how far a time may be wrong that begins with one agent and ends with another: as far as the two
// whose clocks are known least exactly.
func clockBound(parts []Part) time.Duration {
	var worst [2]time.Duration
	for i := range parts {
		if c := parts[i].Agent.Clock; c != nil {
			worst[0], worst[1] = max(worst[0], c.Bound), max(worst[1], min(worst[0], c.Bound))
		}
	}
	return worst[0] + worst[1]
}
