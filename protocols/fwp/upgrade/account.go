package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// The times of an account.
const (
	watchTime       = 10 * time.Second // for jobs that must not come
	quickWatchTime  = 3 * time.Second
	failedWatchTime = 55 * time.Second // after a failure: a first retry comes within 49 s
	maxLateness     = 30 * time.Second // at is approximate, and a server that starts has other things to do (AMB-28)
	clockSkew       = time.Second      // by which at may be early (AMB-36)
	reportMargin    = 15 * time.Second // of the end of a reservation, and more than a report takes
)

// accountant asks a server for the jobs that it has.
type accountant struct {
	filler

	queues  [][]string     // as many as one FETCH names
	last    map[string]int // by queue, the place of the job that came last
	silence time.Time      // until then jobs that must not come are waited for
}

// account asks a server for all jobs, reports them, and tells what became of each. Jobs that are IsMissing are taken if
// they come; those that should have come and did not are IsMissing afterwards. (Work unit state diagram)
func account(ctx context.Context, site *RunningServer, jobs *Inventory) (err error) {
	a := &accountant{last: map[string]int{}, filler: filler{
		ctx: ctx, site: site, jobs: jobs, conn: 3, state: StateEnqueued, byID: map[string]*Job{},
		isUnclear: map[string]bool{},
	}}
	watch := watchTime
	if site.Filling.IsQuick {
		watch = quickWatchTime
	}
	a.silence = site.ReadyTime.Add(watch)
	var queues []string
	for i, j := range jobs.Jobs {
		a.byID[j.ID], j.progress = j, progress{index: i}
		if !slices.Contains(queues, j.Queue) {
			queues = append(queues, j.Queue)
		}
		if !j.IsOver && !j.IsMissing && j.State != StateFar {
			j.progress.dueTime = maxTime(j.DueTime, site.ReadyTime)
		}
	}
	a.queues = groupQueues(queues)
	if err := a.reportHeld(); err != nil {
		return err
	}
	if a.main, err = a.connect(jobs.Run + "-account"); err != nil {
		return err
	}
	defer a.main.Leave()
	if err := a.drain(); err != nil {
		return err
	}
	a.tellMissing()
	return a.compareCounts()
}

func maxTime(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{b, a}, time.Time.Compare) }

// reportHeld has the worker that stays report its jobs: every second one is done, the others fail.
func (a *accountant) reportHeld() error {
	var jobs []*Job
	for _, j := range a.jobs.Jobs {
		if j.State == StateStays && !j.IsOver && !j.IsMissing && j.Step == a.site.Step {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	c, err := a.connect(jobs[0].Worker)
	if err != nil {
		return err
	}
	defer c.Leave()
	for i, j := range jobs {
		if err := a.reportOne(c, j, i%2 == 0 || a.site.Filling.IsQuick); err != nil {
			return err
		}
	}
	return nil
}

// reportOne reports that a job is done, or that it failed. One whose reservation may end meanwhile is not reported: it
// comes back by itself, like a failed one where the end counts as a failure.
func (a *accountant) reportOne(c *recordedConn, j *Job, isDone bool) (err error) {
	switch {
	case time.Now().After(j.DueTime.Add(-reportMargin)):
		j.progress.dueTime = j.DueTime.Add(failedWatchTime)
	case isDone:
		j.IsOver, err = c.ack(j.ID)
	default:
		if err = a.fail(c, j, 1); err == nil && j.Report != nil {
			j.DueTime = time.Time{} // it is not held any more
		}
	}
	return err
}

// drain fetches jobs until all have come that must, and none has come for a while that must not; or until the patience
// is over.
func (a *accountant) drain() error {
	next := 0
	// a server may deliver one job for ever
	for attempts := 1000 + 3*len(a.jobs.Jobs); attempts > 0 && len(a.queues) > 0; attempts-- {
		got, err := a.main.fetch(a.queues[next]...)
		if err != nil {
			return err
		}
		if got != nil {
			if err := a.takeJob(got); err != nil {
				return err
			}
			continue
		}
		if next = (next + 1) % len(a.queues); next > 0 {
			continue
		}
		end := a.silence
		for _, j := range a.jobs.Jobs {
			if j.isAwaited() && !j.IsMissing { // else it is not known whether it must come
				end = maxTime(end, j.progress.dueTime.Add(a.site.Patience))
			}
		}
		if time.Now().After(end) {
			return nil
		}
	}
	return nil
}

// How many queues one FETCH has, and how many bytes these have: some servers take no more. (AMB-14)
const maxQueues, maxNameBytes = 16, 900

// groupQueues divides queues into those that one FETCH names.
func groupQueues(queues []string) (lines [][]string) {
	length := maxNameBytes
	for _, queue := range queues {
		if length += 1 + len(queue); length > maxNameBytes || len(lines[len(lines)-1]) == maxQueues {
			lines, length = append(lines, nil), len(queue)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], queue)
	}
	return lines
}

// takeJob deals with a job that was delivered.
func (a *accountant) takeJob(unit []byte) error {
	now := time.Now()
	got := number.Object(unit)
	jid := fwp.JIDOf(unit)
	j := a.byID[jid]
	switch {
	case len(unit) == 0:
		return nil
	case j == nil && slices.Contains(a.jobs.UnclearJIDs, jid):
	case j == nil:
		a.site.Tell(Fact{
			State: StateEnqueued, Fate: FateAltered, Clause: "FWP-WU-01",
			Expected: "one of the pushed jobs", Actual: fmt.Sprintf("%.300q", unit),
		})
	case j.IsOver:
		clause, reason := endClause(j)
		a.fact(j, Fact{Fate: FateDoubled, Clause: clause, Expected: "it has ended: " + reason, Actual: "it came (again)"})
	default:
		a.judge(j, got, now)
		j.IsOver, j.IsMissing = true, false
		if j.failsTwice() {
			a.silence = maxTime(a.silence, now.Add(failedWatchTime))
			return a.fail(a.main, j, 2)
		}
	}
	_, err := a.main.ack(jid)
	return err
}

// endClause returns the clause by which a job must not come any more, and the reason in words.
func endClause(j *Job) (clause, reason string) {
	switch {
	case j.State == StateDead:
		return "FWP-RETRY-05", "it failed with retry -1"
	case j.State == StateDiscarded:
		return "FWP-RETRY-01", "it failed with retry 0"
	case j.failsTwice():
		return "FWP-RETRY-03", "it failed as often as its retry allows"
	}
	return "FWP-ACK-02", "it was acknowledged"
}

// failsTwice reports whether a job fails once more when it comes, and then for the last time.
func (j *Job) failsTwice() bool {
	return j.State == StateFailed && number.Object(j.Unit)["retry"] == json.Number("1")
}

// judge compares a job with what was pushed, and the time with when it is due.
func (a *accountant) judge(j *Job, got map[string]any, now time.Time) {
	isScheduled := j.State == StateSoon || j.State == StateLater || j.State == StateFar
	if isScheduled {
		a.judgeTime(j, got, now)
	} else if now.Before(j.DueTime.Add(-clockSkew)) {
		a.fact(j, Fact{
			Fate: FateEarly, IsAllowed: true, Expected: "not before its reservation ends, " + stampOf(j.DueTime),
			Actual: "it came at " + stampOf(now),
		})
	}
	if v := a.difference(j, got); v != nil {
		a.fact(j, *v)
	}
	isOrdered := a.jobs.IsOrdered && !j.IsMissing && (j.State == StateEnqueued || j.State == StateLarge)
	if last, ok := a.last[j.Queue]; ok && isOrdered && j.progress.index < last {
		a.fact(j, Fact{
			Fate: FateOrder, Expected: "the jobs of a queue in the order of their pushes, as before the stop",
			Actual: "it came after a job that was pushed later",
		})
	}
	a.last[j.Queue] = j.progress.index
	a.fact(j, Fact{Fate: FateKept})
}

// judgeTime judges when a scheduled job came: by the clock of the server, and by ours where that is the same.
func (a *accountant) judgeTime(j *Job, got map[string]any, now time.Time) {
	text, _ := got["enqueued_at"].(string)
	enqueued, err := number.ParseTime(text)
	earliest, latest := j.DueTime.Add(-clockSkew), maxTime(j.DueTime, a.site.ReadyTime).Add(maxLateness)
	switch {
	case err == nil && enqueued.Before(earliest), a.site.IsAlone && now.Before(earliest):
		a.fact(j, Fact{
			Fate: FateEarly, Expected: "not before " + stampOf(j.DueTime),
			Actual: "it came at " + stampOf(now) + ", with enqueued_at " + text,
		})
	case err == nil && enqueued.After(latest) && !j.IsMissing:
		a.fact(j, Fact{
			Fate: FateLate, Expected: "soon after " + stampOf(j.DueTime), Actual: "enqueued_at is " + text,
		})
	}
}

func stampOf(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }

// difference returns how a job differs from what was sent, but for what the server altered before.
func (a *accountant) difference(j *Job, got map[string]any) *Fact {
	sent := number.Object(j.Unit)
	for field, value := range number.Object(j.AlteredFields) {
		if fwplaw.Equal(value, got[field]) {
			sent[field] = value
		}
	}
	var failure map[string]any
	if j.Report != nil && (j.State == StateFailed || j.State == StateStays) {
		if failure = number.Object(j.Report); sent["backtrace"] != json.Number("2") {
			delete(failure, "backtrace") // how much of it is kept is no matter of the upgrade
		}
	}
	v := fwplaw.Difference(sent, failure, got)
	if v == nil {
		return nil
	}
	return &Fact{Fate: FateAltered, Clause: v.Clause, Expected: v.Expected, Actual: v.Got}
}

// fact records what became of a job; the first record of a job counts.
func (a *accountant) fact(j *Job, f Fact) {
	if j.progress.hasFact && f.Fate != FateDoubled {
		return
	}
	j.progress.hasFact = true
	f.Job = j
	a.site.Tell(f)
}

// tellMissing tells which jobs have not come.
func (a *accountant) tellMissing() {
	for _, j := range a.jobs.Jobs {
		if j.isAwaited() {
			j.IsMissing = true
			f := Fact{
				Fate: FateLost, Expected: "it is delivered, to FETCH " + j.Queue,
				Actual: fmt.Sprintf("it did not come within %v after it was due (%s)", a.site.Patience,
					stampOf(j.progress.dueTime)),
			}
			if a.unreadFetches > 0 && !j.progress.hasFact {
				a.unreadFetches--
				f.Fate, f.Clause = FateUnknown, "FWP-RESP-01"
				f.Actual = "it was in no reply to FETCH, unless in one that cannot be read"
			}
			a.fact(j, f)
		}
	}
}

// compareCounts tells which jobs the server counts no more: those that no command shows.
func (a *accountant) compareCounts() error {
	counts, err := a.counts()
	if err != nil || counts == nil || !a.site.IsAlone {
		return err
	}
	for state, set := range map[State]string{StateFar: "scheduled", StateDead: "dead"} {
		expected := int64(0)
		for _, j := range a.jobs.Jobs {
			if j.State == state {
				expected++
			}
		}
		before, after := a.jobs.Counts[set], counts[set]
		switch {
		case expected == 0 || before < expected: // it did not count them before
		case after >= expected:
			a.site.Tell(Fact{State: state, Fate: FateKept})
		default:
			a.site.Tell(Fact{State: state, Fate: FateCount,
				Expected: fmt.Sprintf("INFO counts %d jobs or more as %s; %d before the stop", expected, set, before),
				Actual:   fmt.Sprintf("INFO counts %d", after)})
		}
	}
	return nil
}
