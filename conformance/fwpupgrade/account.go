package fwpupgrade

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/conformance/upgrade"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/rfc3339"
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

	due     map[*upgrade.Job]time.Time // those that must come, and from when on
	again   map[*upgrade.Job]bool      // those that fail once more
	queues  [][]string                 // as many as one FETCH names
	last    map[string]int             // by queue, the place of the job that came last
	places  map[*upgrade.Job]int
	silence time.Time // until then jobs that must not come are waited for
}

// account asks a server for all jobs. (Work unit state diagram)
func account(ctx context.Context, site *upgrade.Site, jobs *upgrade.Inventory) error {
	a := &accountant{
		filler: filler{
			ctx: ctx, site: site, jobs: jobs, conn: 3, filled: upgrade.Enqueued, byID: map[string]*upgrade.Job{},
			told: map[*upgrade.Job]bool{}, unclear: map[string]bool{},
		},
		due: map[*upgrade.Job]time.Time{}, again: map[*upgrade.Job]bool{},
		last: map[string]int{}, places: map[*upgrade.Job]int{},
	}
	watch := watchAtLeast
	if site.Plan.Quick {
		watch = watchQuickly
	}
	a.silence = site.Ready.Add(watch)
	var queues []string
	for i, j := range jobs.Jobs {
		a.byID[j.ID], a.places[j] = j, i
		if !slices.Contains(queues, j.Queue) {
			queues = append(queues, j.Queue)
		}
		if !j.Over && !j.Missing && j.State != upgrade.Far {
			a.due[j] = later(j.Due, site.Ready)
		}
	}
	a.queues = named(queues)
	if err := a.reportHeld(); err != nil {
		return err
	}
	var err error
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
	var held []*upgrade.Job
	for _, j := range a.jobs.Jobs {
		if j.State == upgrade.Stays && !j.Over && !j.Missing && j.Step == a.site.Step {
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
func (a *accountant) reportOne(c *keptConn, j *upgrade.Job, done bool) (err error) {
	switch {
	case time.Now().After(j.Due.Add(-reportBefore)):
		a.due[j] = j.Due.Add(watchFailed)
	case done:
		if j.Over, err = c.ack(j.ID); j.Over {
			delete(a.due, j)
		}
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
		for j, due := range a.due {
			if !j.Missing { // it is not known whether it must come
				end = later(end, due.Add(a.site.Patience))
			}
		}
		if time.Now().After(end) {
			return nil
		}
	}
	return nil
}

// longestNamed is how many bytes the queues of one FETCH have: some servers take no long lines.
const longestNamed = 900

// named divides queues into those that one FETCH names.
func named(queues []string) (lines [][]string) {
	length := longestNamed
	for _, queue := range queues {
		if length += 1 + len(queue); length > longestNamed {
			lines, length = append(lines, nil), len(queue)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], queue)
	}
	return lines
}

// came deals with a job that was delivered.
func (a *accountant) came(unit []byte) error {
	now := time.Now()
	got := jsonnum.Object(unit)
	jid := fwp.JIDOf(unit)
	j := a.byID[jid]
	switch {
	case len(unit) == 0:
		return nil
	case j == nil && slices.Contains(a.jobs.Unclear, jid):
	case j == nil:
		a.site.Tell(upgrade.Fact{
			State: upgrade.Enqueued, Fate: upgrade.Altered, Clause: "FWP-WU-01",
			Expected: "one of the pushed jobs", Actual: fmt.Sprintf("%.300q", unit),
		})
	case j.Over:
		a.fact(j, upgrade.Fact{Fate: upgrade.Doubled, Expected: "it has ended: " + overWords(j), Actual: "it came (again)"})
	default:
		a.judge(j, got, now)
		if again := a.again[j]; !again && j.State == upgrade.Failed && lastRetry(j) {
			a.again[j] = true
			j.Over = true
			delete(a.due, j)
			a.silence = later(a.silence, now.Add(watchFailed))
			return a.fail(a.main, j, 2)
		}
		j.Over, j.Missing = true, false
		delete(a.due, j)
	}
	_, err := a.main.ack(jid)
	return err
}

// lastRetry reports whether a second failure is the last one of a job.
func lastRetry(j *upgrade.Job) bool { return jsonnum.Object(j.Sent)["retry"] == json.Number("1") }

// overWords says why a job must not come.
func overWords(j *upgrade.Job) string {
	return cmp.Or(map[upgrade.State]string{
		upgrade.Dead: "it failed with retry -1", upgrade.Discarded: "it failed with retry 0",
		upgrade.Failed: "it failed as often as its retry allows, or was acknowledged",
	}[j.State], "it was acknowledged")
}

// judge compares a job with what was pushed, and the time with when it is due.
func (a *accountant) judge(j *upgrade.Job, got map[string]any, now time.Time) {
	scheduled := j.State == upgrade.Soon || j.State == upgrade.Later || j.State == upgrade.Far
	if scheduled {
		a.judgeTime(j, got, now)
	} else if now.Before(j.Due.Add(-clockSkew)) {
		a.fact(j, upgrade.Fact{
			Fate: upgrade.Early, Allowed: true, Expected: "not before its reservation ends, " + stampOf(j.Due),
			Actual: "it came at " + stampOf(now),
		})
	}
	if v := a.difference(j, got); v != nil {
		a.fact(j, *v)
	}
	ordered := a.jobs.InOrder && !j.Missing && (j.State == upgrade.Enqueued || j.State == upgrade.Large)
	if last, some := a.last[j.Queue]; some && ordered && a.places[j] < last {
		a.fact(j, upgrade.Fact{
			Fate: upgrade.Order, Expected: "the jobs of a queue in the order of their pushes, as before the stop",
			Actual: "it came after a job that was pushed later",
		})
	}
	a.last[j.Queue] = a.places[j]
	a.fact(j, upgrade.Fact{Fate: upgrade.Kept})
}

// judgeTime judges when a scheduled job came: by the clock of the server, and by ours where that is the same.
func (a *accountant) judgeTime(j *upgrade.Job, got map[string]any, now time.Time) {
	text, _ := got["enqueued_at"].(string)
	enqueued, err := rfc3339.Parse(text)
	least, latest := j.Due.Add(-clockSkew), later(j.Due, a.site.Ready).Add(lateAfter)
	switch {
	case err == nil && enqueued.Before(least), a.site.Alone && now.Before(least):
		a.fact(j, upgrade.Fact{
			Fate: upgrade.Early, Expected: "not before " + stampOf(j.Due),
			Actual: "it came at " + stampOf(now) + ", with enqueued_at " + text,
		})
	case err == nil && enqueued.After(latest) && !j.Missing:
		a.fact(j, upgrade.Fact{
			Fate: upgrade.Late, Expected: "soon after " + stampOf(j.Due), Actual: "enqueued_at is " + text,
		})
	}
}

func stampOf(t time.Time) string { return t.UTC().Format("15:04:05.000 UTC") }

// difference returns how a job differs from what was sent, but for what the server altered before.
func (a *accountant) difference(j *upgrade.Job, got map[string]any) *upgrade.Fact {
	sent := jsonnum.Object(j.Sent)
	for field, value := range jsonnum.Object(j.Was) {
		if oracle.Equal(value, got[field]) {
			sent[field] = value
		}
	}
	var failure map[string]any
	if j.Report != nil && (j.State == upgrade.Failed || j.State == upgrade.Stays) {
		if failure = jsonnum.Object(j.Report); sent["backtrace"] != json.Number("2") {
			delete(failure, "backtrace") // how much of it is kept is no matter of the upgrade
		}
	}
	v := oracle.Difference(sent, failure, got)
	if v == nil {
		return nil
	}
	return &upgrade.Fact{Fate: upgrade.Altered, Clause: v.Clause, Expected: v.Expected, Actual: v.Got}
}

// fact records what became of a job; the first record of a job counts.
func (a *accountant) fact(j *upgrade.Job, f upgrade.Fact) {
	if a.told[j] && f.Fate != upgrade.Doubled {
		return
	}
	a.told[j] = true
	f.Job = j
	a.site.Tell(f)
}

// missing tells which jobs have not come.
func (a *accountant) missing() {
	for _, j := range a.jobs.Jobs {
		if due, must := a.due[j]; must {
			j.Missing = true
			f := upgrade.Fact{
				Fate: upgrade.Lost, Expected: "it is delivered, to FETCH " + j.Queue,
				Actual: fmt.Sprintf("it did not come within %v after it was due (%s)", a.site.Patience, stampOf(due)),
			}
			if a.unread > 0 && !a.told[j] {
				a.unread--
				f.Fate, f.Clause = upgrade.Unknown, "FWP-RESP-01"
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
	far, dead := int64(0), int64(0)
	for _, j := range a.jobs.Jobs {
		switch j.State {
		case upgrade.Far:
			far++
		case upgrade.Dead:
			dead++
		default:
		}
	}
	for _, of := range []struct {
		state upgrade.State
		set   string
		least int64
	}{{upgrade.Far, "scheduled", far}, {upgrade.Dead, "dead", dead}} {
		before, after := a.jobs.Counts[of.set], counts[of.set]
		switch {
		case of.least > 0 && before >= of.least && after >= of.least:
			a.site.Tell(upgrade.Fact{State: of.state, Fate: upgrade.Kept})
		case before >= of.least && after < of.least:
			a.site.Tell(upgrade.Fact{State: of.state, Fate: upgrade.Count,
				Expected: fmt.Sprintf("INFO counts %d jobs or more as %s; %d before the stop", of.least, of.set, before),
				Actual:   fmt.Sprintf("INFO counts %d", after)})
		}
	}
	return nil
}
