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
	watchAtLeast = 10 * time.Second // for jobs that must not come
	watchQuickly = 3 * time.Second
	watchFailed  = 55 * time.Second // after a failure: a first retry comes within 49 s
	lateAfter    = 30 * time.Second // at is approximate, and a server that starts has other things to do (AMB-28)
	clockSkew    = time.Second      // by which at may be early (AMB-36)
	reportBefore = 15 * time.Second // of the end of a reservation, and more than a report takes
)

// accountant asks a server for the jobs that it has.
type accountant struct {
	filler

	queues  [][]string     // as many as one FETCH names
	last    map[string]int // by queue, the place of the job that came last
	silence time.Time      // until then jobs that must not come are waited for
}

// account asks a server for all jobs, reports them, and tells what became of each. Jobs that are Missing are taken if
// they come; those that should have come and did not are Missing afterwards. (Work unit state diagram)
func account(ctx context.Context, site *Site, jobs *Inventory) (err error) {
	a := &accountant{last: map[string]int{}, filler: filler{
		ctx: ctx, site: site, jobs: jobs, conn: 3, filled: Enqueued, byID: map[string]*Job{}, unclear: map[string]bool{},
	}}
	watch := watchAtLeast
	if site.Plan.Quick {
		watch = watchQuickly
	}
	a.silence = site.Ready.Add(watch)
	var queues []string
	for i, j := range jobs.Jobs {
		a.byID[j.ID], j.asked = j, asked{place: i}
		if !slices.Contains(queues, j.Queue) {
			queues = append(queues, j.Queue)
		}
		if !j.Over && !j.Missing && j.State != Far {
			j.asked.due = later(j.Due, site.Ready)
		}
	}
	a.queues = together(queues)
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
	a.missing()
	return a.compareCounts()
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{b, a}, time.Time.Compare) }

// reportHeld has the worker that stays report its jobs: every second one is done, the others fail.
func (a *accountant) reportHeld() error {
	var held []*Job
	for _, j := range a.jobs.Jobs {
		if j.State == Stays && !j.Over && !j.Missing && j.Step == a.site.Step {
			held = append(held, j)
		}
	}
	if len(held) == 0 {
		return nil
	}
	c, err := a.connect(held[0].Worker)
	if err != nil {
		return err
	}
	defer c.Leave()
	for i, j := range held {
		if err := a.reportOne(c, j, i%2 == 0 || a.site.Plan.Quick); err != nil {
			return err
		}
	}
	return nil
}

// reportOne reports that a job is done, or that it failed. One whose reservation may end meanwhile is not reported: it
// comes back by itself, like a failed one where the end counts as a failure.
func (a *accountant) reportOne(c *keptConn, j *Job, done bool) (err error) {
	switch {
	case time.Now().After(j.Due.Add(-reportBefore)):
		j.asked.due = j.Due.Add(watchFailed)
	case done:
		j.Over, err = c.ack(j.ID)
	default:
		if err = a.fail(c, j, 1); err == nil && j.Report != nil {
			j.Due = time.Time{} // it is not held any more
		}
	}
	return err
}

// drain fetches jobs until all have come that must, and none has come for a while that must not; or until the patience
// is over.
func (a *accountant) drain() error {
	next := 0
	for left := 1000 + 3*len(a.jobs.Jobs); left > 0 && len(a.queues) > 0; left-- { // a server may deliver one job for ever
		got, err := a.main.fetch(a.queues[next]...)
		if err != nil {
			return err
		}
		if got != nil {
			if err := a.came(got); err != nil {
				return err
			}
			continue
		}
		if next = (next + 1) % len(a.queues); next > 0 {
			continue
		}
		end := a.silence
		for _, j := range a.jobs.Jobs {
			if j.wanted() && !j.Missing { // else it is not known whether it must come
				end = later(end, j.asked.due.Add(a.site.Patience))
			}
		}
		if time.Now().After(end) {
			return nil
		}
	}
	return nil
}

// How many queues one FETCH has, and how many bytes these have: some servers take no more. (AMB-14)
const mostNamed, longestNamed = 16, 900

// together divides queues into those that one FETCH names.
func together(queues []string) (lines [][]string) {
	length := longestNamed
	for _, queue := range queues {
		if length += 1 + len(queue); length > longestNamed || len(lines[len(lines)-1]) == mostNamed {
			lines, length = append(lines, nil), len(queue)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], queue)
	}
	return lines
}

// came deals with a job that was delivered.
func (a *accountant) came(unit []byte) error {
	now := time.Now()
	got := number.Object(unit)
	jid := fwp.JIDOf(unit)
	j := a.byID[jid]
	switch {
	case len(unit) == 0:
		return nil
	case j == nil && slices.Contains(a.jobs.Unclear, jid):
	case j == nil:
		a.site.Tell(Fact{
			State: Enqueued, Fate: Altered, Clause: "FWP-WU-01",
			Expected: "one of the pushed jobs", Actual: fmt.Sprintf("%.300q", unit),
		})
	case j.Over:
		clause, why := ended(j)
		a.fact(j, Fact{Fate: Doubled, Clause: clause, Expected: "it has ended: " + why, Actual: "it came (again)"})
	default:
		a.judge(j, got, now)
		j.Over, j.Missing = true, false
		if j.failsTwice() {
			a.silence = later(a.silence, now.Add(watchFailed))
			return a.fail(a.main, j, 2)
		}
	}
	_, err := a.main.ack(jid)
	return err
}

// ended returns the clause by which a job must not come any more, and the reason in words.
func ended(j *Job) (clause, why string) {
	switch {
	case j.State == Dead:
		return "FWP-RETRY-05", "it failed with retry -1"
	case j.State == Discarded:
		return "FWP-RETRY-01", "it failed with retry 0"
	case j.failsTwice():
		return "FWP-RETRY-03", "it failed as often as its retry allows"
	}
	return "FWP-ACK-02", "it was acknowledged"
}

// failsTwice reports whether a job fails once more when it comes, and then for the last time.
func (j *Job) failsTwice() bool {
	return j.State == Failed && number.Object(j.Sent)["retry"] == json.Number("1")
}

// judge compares a job with what was pushed, and the time with when it is due.
func (a *accountant) judge(j *Job, got map[string]any, now time.Time) {
	scheduled := j.State == Soon || j.State == Later || j.State == Far
	if scheduled {
		a.judgeTime(j, got, now)
	} else if now.Before(j.Due.Add(-clockSkew)) {
		a.fact(j, Fact{
			Fate: Early, Allowed: true, Expected: "not before its reservation ends, " + stampOf(j.Due),
			Actual: "it came at " + stampOf(now),
		})
	}
	if v := a.difference(j, got); v != nil {
		a.fact(j, *v)
	}
	ordered := a.jobs.InOrder && !j.Missing && (j.State == Enqueued || j.State == Large)
	if last, some := a.last[j.Queue]; some && ordered && j.asked.place < last {
		a.fact(j, Fact{
			Fate: Order, Expected: "the jobs of a queue in the order of their pushes, as before the stop",
			Actual: "it came after a job that was pushed later",
		})
	}
	a.last[j.Queue] = j.asked.place
	a.fact(j, Fact{Fate: Kept})
}

// judgeTime judges when a scheduled job came: by the clock of the server, and by ours where that is the same.
func (a *accountant) judgeTime(j *Job, got map[string]any, now time.Time) {
	text, _ := got["enqueued_at"].(string)
	enqueued, err := number.ParseTime(text)
	least, latest := j.Due.Add(-clockSkew), later(j.Due, a.site.Ready).Add(lateAfter)
	switch {
	case err == nil && enqueued.Before(least), a.site.Alone && now.Before(least):
		a.fact(j, Fact{
			Fate: Early, Expected: "not before " + stampOf(j.Due),
			Actual: "it came at " + stampOf(now) + ", with enqueued_at " + text,
		})
	case err == nil && enqueued.After(latest) && !j.Missing:
		a.fact(j, Fact{
			Fate: Late, Expected: "soon after " + stampOf(j.Due), Actual: "enqueued_at is " + text,
		})
	}
}

func stampOf(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }

// difference returns how a job differs from what was sent, but for what the server altered before.
func (a *accountant) difference(j *Job, got map[string]any) *Fact {
	sent := number.Object(j.Sent)
	for field, value := range number.Object(j.Was) {
		if fwplaw.Equal(value, got[field]) {
			sent[field] = value
		}
	}
	var failure map[string]any
	if j.Report != nil && (j.State == Failed || j.State == Stays) {
		if failure = number.Object(j.Report); sent["backtrace"] != json.Number("2") {
			delete(failure, "backtrace") // how much of it is kept is no matter of the upgrade
		}
	}
	v := fwplaw.Difference(sent, failure, got)
	if v == nil {
		return nil
	}
	return &Fact{Fate: Altered, Clause: v.Clause, Expected: v.Expected, Actual: v.Got}
}

// fact records what became of a job; the first record of a job counts.
func (a *accountant) fact(j *Job, f Fact) {
	if j.asked.told && f.Fate != Doubled {
		return
	}
	j.asked.told = true
	f.Job = j
	a.site.Tell(f)
}

// missing tells which jobs have not come.
func (a *accountant) missing() {
	for _, j := range a.jobs.Jobs {
		if j.wanted() {
			j.Missing = true
			f := Fact{
				Fate: Lost, Expected: "it is delivered, to FETCH " + j.Queue,
				Actual: fmt.Sprintf("it did not come within %v after it was due (%s)", a.site.Patience, stampOf(j.asked.due)),
			}
			if a.unread > 0 && !j.asked.told {
				a.unread--
				f.Fate, f.Clause = Unknown, "FWP-RESP-01"
				f.Actual = "it was in no reply to FETCH, unless in one that cannot be read"
			}
			a.fact(j, f)
		}
	}
}

// compareCounts tells which jobs the server counts no more: those that no command shows.
func (a *accountant) compareCounts() error {
	counts, err := a.counts()
	if err != nil || counts == nil || !a.site.Alone {
		return err
	}
	for state, set := range map[State]string{Far: "scheduled", Dead: "dead"} {
		least := int64(0)
		for _, j := range a.jobs.Jobs {
			if j.State == state {
				least++
			}
		}
		before, after := a.jobs.Counts[set], counts[set]
		switch {
		case least == 0 || before < least: // it did not count them before
		case after >= least:
			a.site.Tell(Fact{State: state, Fate: Kept})
		default:
			a.site.Tell(Fact{State: state, Fate: Count,
				Expected: fmt.Sprintf("INFO counts %d jobs or more as %s; %d before the stop", least, set, before),
				Actual:   fmt.Sprintf("INFO counts %d", after)})
		}
	}
	return nil
}
