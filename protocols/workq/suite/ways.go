package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// errand is what is done next with the jobs of a way: not before a time, and when it may. conn and other are two
// connections that owe no reply.
type errand struct {
	at      time.Time
	isReady func() bool
	do      func(conn, other int) []explore.Step
}

// postpone puts an errand off.
func (m *maker) postpone(d time.Duration, do func(conn, other int) []explore.Step) {
	m.errands = append(m.errands, errand{at: time.Now().Add(d), do: do})
}

// postponeUntil puts an errand off until all that may be of a job is so.
func (m *maker) postponeUntil(b jobRef, fits func(possibleState) bool, do func(conn, other int) []explore.Step) {
	isReady := func() bool {
		j := m.law.jobs[m.Fill(b.id)]
		return j != nil && j.isAlways(fits)
	}
	m.errands = append(m.errands, errand{at: time.Now(), isReady: isReady, do: do})
}

// nextErrand returns the index of the errand that may be done longest, -1 for none.
func (m *maker) nextErrand() int {
	now, first := time.Now(), -1
	for i, e := range m.errands {
		if !now.Before(e.at) && (e.isReady == nil || e.isReady()) && (first < 0 || e.at.Before(m.errands[first].at)) {
			first = i
		}
	}
	return first
}

// wayMoves are the moves of the ways that jobs go as time passes, each of which is begun in turn, and of errands.
func (m *maker) wayMoves(mayBegin func() bool) []explore.Move {
	ways := []func(conn, other int) []explore.Step{
		m.reportLate, m.deadline, m.leaseInTurn, m.severalWaitForJob, m.runJobs, m.leaseAgain, m.severalWaitForResult,
		m.failInTime,
		m.reuseID, m.expireSeveral,
	}
	fits := func(int) bool { return len(m.Free()) > 1 }
	other := func(conn int) int {
		free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn })
		return free[m.IntN(len(free))]
	}
	return []explore.Move{
		{Name: "way", Weight: 20, Fits: func(conn int) bool { return mayBegin() && fits(conn) },
			Make: func(conn int) []explore.Step {
				m.wayCount++
				before := len(m.jobs)
				steps := ways[m.Deal("way", len(ways))](conn, other(conn))
				m.wayJobs += len(m.jobs) - before
				return steps
			}},
		{Name: "errand", Weight: 60, Fits: func(conn int) bool { return m.nextErrand() >= 0 && fits(conn) },
			Make: func(conn int) []explore.Step {
				i := m.nextErrand()
				do := m.errands[i].do
				m.errands = slices.Delete(m.errands, i, i+1)
				return do(conn, other(conn))
			}},
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// span returns a time from low to high at the pace of the lives, in milliseconds.
func (m *maker) span(low, high int) int { return m.pace * (low + m.IntN(high-low)) }

// addJob adds or schedules a job of a way.
func (m *maker) addJob(verb, name string, ttr, ttl int, flags string) (jobRef, string) {
	b, dueTime := m.newJob(name), ""
	if verb == workq.Schedule {
		dueTime = fmt.Sprintf("$now+%dms ", 1000+m.wayCount) // a name of a time has one value: all of a way are due at once
	}
	return b, fmt.Sprintf("%s %s %s %d %d %s*%s <- %s", verb, b.id, name, ttr, ttl, dueTime, flags, b.id[1:])
}

// longTime is more than a way lasts, in milliseconds.
const longTime = 3_600_000

// inspectJob looks at a job in a way that is dealt, and then in the plainest ones.
func (m *maker) inspectJob(conn int, b jobRef) []explore.Step {
	all := []string{
		"inspect job " + b.id, "result " + b.id + " 0", "lease " + b.name + " 20", "inspect queue " + b.name,
		"inspect jobs " + b.name + " 0 100", "complete " + b.id + " * <- late", "fail " + b.id + " * <- late",
		"delete " + b.id, "inspect scheduled-jobs " + b.name + " 0 100", "inspect queues 0 100",
	}
	n := m.Deal("look", len(all))
	return []explore.Step{
		m.step(conn, all[n]), m.step(conn, all[0]), m.step(conn, all[1]), m.step(conn, all[2]),
	}
}

// reportLate has a worker report a job when its time to run is over, and another worker may have leased it: it is over
// then, also when the time to run of that one is, or that one reports. (lease, Special Considerations)
func (m *maker) reportLate(conn, _ int) []explore.Step {
	name, ttr := m.newName(), m.span(200, 400)
	all := []string{"", " -max-fails=9", " -max-attempts=2", " -max-attempts=3 -max-fails=2"}
	b, add := m.addJob(workq.Add, name, ttr, longTime, all[m.Deal("flags of late ones", len(all))])
	reports := []string{"complete " + b.id + " * <- late", "fail " + b.id + " * <- late"}
	if m.IntN(3) == 0 {
		slices.Reverse(reports)
	}
	report := func(conn, other int) []explore.Step {
		m.postpone(ms(ttr+200), func(conn, _ int) []explore.Step { return m.inspectJob(conn, b) })
		steps := append([]explore.Step{m.step(other, reports[0])}, m.inspectJob(conn, b)...)
		return append(append(steps, m.step(other, reports[1])), m.inspectJob(conn, b)...)
	}
	hasSecondLease := m.Deal("late report", 3) > 0
	m.postpone(ms(ttr+m.IntN(2)*200), func(conn, other int) []explore.Step {
		if !hasSecondLease {
			return report(conn, other)
		}
		m.postponeUntil(b, func(c possibleState) bool { return c.state == leased && c.attempts == 2 }, report)
		return []explore.Step{m.step(conn, fmt.Sprintf("lease %s 2600%s", name, waitSuffix))}
	})
	return []explore.Step{m.step(conn, add), m.step(conn, "lease "+name+" 20")}
}

// deadline has the time to live of a job end, in each state that it may have come to at once, or shortly before. What
// happens to the job, an inspect and a second add with its id do not put it off.
func (m *maker) deadline(conn, worker int) []explore.Step {
	name, ttl, isLast := m.newName(), m.span(400, 600), m.Deal("last", 2) == 1
	lead := 250
	switch { // by more than a server may be late
	case isLast && m.pace > 1:
		ttl, lead = 6000, 1500
	case isLast:
		ttl = 2450
	}
	id := fmt.Sprintf("$id%d", len(m.jobs)+1)
	lease, completes, fails := "lease "+name+" 20", "complete "+id+" * <- x", "fail "+id+" * <- x"
	states := []struct {
		verb, flags string
		does        []string
	}{
		{verb: workq.Add}, {verb: workq.Schedule}, {workq.Add, "", []string{lease}},
		{workq.Add, "", []string{lease, completes}}, {workq.Add, "", []string{lease, fails}},
		{workq.Add, " -max-fails=9", []string{lease, fails}},
		{workq.Add, "", []string{lease, "result " + id + " 2600" + waitSuffix}},
	}
	state := states[m.Deal("deadline", len(states))]
	other := []string{"", " -max-attempts=3", " -priority=7"}[m.Deal("deadline flags", 3)]
	b, add := m.addJob(state.verb, name, longTime, ttl, state.flags+other)
	does := func(conn, _ int) []explore.Step { return m.steps(conn, state.does) }
	m.postpone(ms(ttl)+maxLateness, func(conn, _ int) []explore.Step { return m.inspectJob(conn, b) })
	steps := []explore.Step{m.step(conn, add)}
	touches := []string{"", "inspect job " + id, add}
	if touch := touches[m.Deal("touched", len(touches))]; touch != "" && isLast {
		state.does = append(slices.Clip(state.does), touch)
	}
	if !isLast {
		return append(steps, does(worker, conn)...)
	}
	m.postpone(ms(ttl-lead), does)
	return steps
}

// expireSeveral has the time to live of several jobs end that are all leased, or have all been completed: it is seen in
// the numbers of the server.
func (m *maker) expireSeveral(conn, _ int) (steps []explore.Step) {
	name, ttl, isCompleted := m.newName(), m.span(400, 600), m.Deal("counted", 2) == 1
	const jobCount = 8
	for range jobCount {
		b, add := m.addJob(workq.Add, name, longTime, ttl, "")
		steps = append(steps, m.step(conn, add), m.step(conn, "lease "+name+" 20"))
		if isCompleted {
			steps = append(steps, m.step(conn, "complete "+b.id+" * <- x"))
		}
	}
	return steps
}

// readiness is how a job comes to be ready.
type readiness int

const (
	byAdd      readiness = iota
	byExpiry             // it is leased until its time to run is over
	bySchedule           // it is due
	byFailure            // it is leased, and reported as failed
)

// expiryTime is how long the jobs run that are ready byExpiry, in milliseconds.
func (m *maker) expiryTime() int { return 300 * m.pace }

// readyCommand returns the verb and the time to run of a job that comes to be ready in a way.
func (m *maker) readyCommand(r readiness) (verb string, ttr int) {
	switch r {
	case byExpiry:
		return workq.Add, m.expiryTime()
	case bySchedule:
		return workq.Schedule, longTime
	}
	return workq.Add, longTime
}

// leaseInTurn is leaseByPriority of jobs that come to be ready in a way that is dealt.
func (m *maker) leaseInTurn(conn, _ int) []explore.Step {
	return m.leaseByPriority(conn, readiness(m.Deal("ready", 4)))
}

// priorities are those of the jobs of [maker.leaseByPriority]: neighbours at the borders, and where a float of 32 bits
// has none.
var priorities = []int{
	-2, -1, 0, 1, 2, workq.MinPriority, workq.MinPriority + 1, workq.MaxPriority, workq.MaxPriority - 1, 1<<24 + 1,
	1 << 24,
}

// leaseByPriority has several jobs of one name, with priorities, listed, and leased one after the other, when all have
// come to be ready in one way, and a few more by an add. (Glossary, Priority)
func (m *maker) leaseByPriority(conn int, cause readiness) (steps []explore.Step) {
	sizes := []int{17, 3, 33, 5, 9}
	n, name := sizes[m.Deal("ordered", len(sizes))], m.newName()
	verb, ttr := m.readyCommand(cause)
	var all []jobRef
	adds := func(n int, verb string, ttr int, priority func(i int) int) (steps []explore.Step) {
		for i := range n {
			b, add := m.addJob(verb, name, ttr, longTime, fmt.Sprintf(" -priority=%d%s", priority(i), m.limitFlags()))
			all, steps = append(all, b), append(steps, m.step(conn, add))
		}
		return steps
	}
	smallPriority := func(int) int { return m.IntN(4) }
	lease := func(conn, _ int) []explore.Step {
		steps := []explore.Step{m.step(conn, "inspect jobs "+name+" 0 100")}
		for range all {
			steps = append(steps, m.step(conn, "lease "+name+" 20"))
		}
		return append(steps, m.step(conn, "inspect queue "+name))
	}
	mixIn := func(conn, other int) []explore.Step {
		return append(adds(3, workq.Add, longTime, smallPriority), lease(conn, other)...)
	}
	if verb == workq.Schedule {
		m.postpone(time.Second+skew+maxLateness, mixIn)
		_, last := m.addPlain(conn, verb, name) // what is due late holds up nothing that is due before it
		return append([]explore.Step{last}, adds(n, verb, ttr, smallPriority)...)
	}
	steps = adds(n, verb, ttr, func(i int) int { return priorities[(i+m.IntN(2))%len(priorities)] })
	steps = append(steps, lease(conn, 0)...)
	switch cause {
	case byExpiry:
		m.postpone(ms(m.expiryTime())+maxLateness, mixIn)
	case byFailure:
		m.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, b := range all {
			steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
		}
		steps = append(steps, mixIn(conn, 0)...)
	}
	return steps
}

// severalWaitForJob has several leases of several names wait, for jobs that come in one way. (lease)
func (m *maker) severalWaitForJob(conn, other int) (steps []explore.Step) {
	names := m.newNames(1 + m.IntN(4))
	name := pick(m, names...)
	cause, isAdded := readiness(m.Deal("awaited", 4)), m.Deal("there", 4) == 0 // before it is asked for
	verb, ttr := m.readyCommand(cause)
	b, add := m.addJob(verb, name, ttr, longTime, " -max-fails=9")
	if cause != byAdd || isAdded {
		steps = append(steps, m.step(conn, add))
	}
	if cause == byExpiry || cause == byFailure {
		steps = append(steps, m.step(conn, "lease "+name+" 20"))
	}
	free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn || n == other })
	waiters, wait := append([]int{other}, free[:min(len(free), m.IntN(2))]...), 4500
	if len(waiters) == 1 && (cause == byAdd || cause == byFailure) {
		wait = 1<<16 + 4 // of one that gets the job, which comes before anybody else can ask for it
	}
	for _, n := range waiters {
		m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		steps = append(steps, m.step(n, fmt.Sprintf("lease %s %d%s", strings.Join(names, " "), wait, waitSuffix)))
	}
	switch {
	case cause == byAdd && !isAdded:
		steps = append(steps, m.step(conn, add))
	case cause == byFailure:
		steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
	}
	return steps
}

// leaseAgain has one job leased several times, with limits: a lease ends with its time to run, or by a fail. When the
// job has no attempt or fail left, the next lease is in vain.
func (m *maker) leaseAgain(conn, other int) []explore.Step {
	const byFail = 'f' // of ends; t is by its time to run
	all := []struct{ limits, ends string }{
		{"", "ttt"}, {" -max-attempts=2 -max-fails=9", "ft"}, {" -max-attempts=9 -max-fails=2", "ftf"},
		{" -max-attempts=9", "tt"}, {" -max-attempts=3 -max-fails=3", "tft"}, {" -max-fails=1", "ttf"},
	}
	row := all[m.Deal("leased again", len(all))]
	name, ttr := m.newName(), m.span(200, 250)
	if m.pace > 1 {
		ttr = 2300 // a lease that lasts twice as long is more than late
	}
	b, add := m.addJob(workq.Add, name, ttr, longTime, row.limits)
	lease := fmt.Sprintf("lease %s %d%s", name, ttr+2400, waitSuffix) // longer than a server may be late
	var next func(n int) func(conn, other int) []explore.Step
	next = func(n int) func(conn, other int) (steps []explore.Step) {
		return func(conn, other int) (steps []explore.Step) {
			if n > 0 && row.ends[n-1] == byFail {
				steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
			}
			if n < len(row.ends) {
				m.postponeUntil(b, func(c possibleState) bool { return c.state == leased && c.attempts == uint64(n+1) }, next(n+1))
			}
			return append(steps, m.step(conn, lease), m.step(other, "inspect job "+b.id))
		}
	}
	return append([]explore.Step{m.step(conn, add)}, next(0)(conn, other)...)
}

// failInTime has a job fail while it may run, and leased again: the second worker has a time to run of its own, which
// is as long.
func (m *maker) failInTime(conn, _ int) []explore.Step {
	name, ttr := m.newName(), m.pace*1200
	leaseDelay, lookDelay := ms(ttr*2/3), ms(ttr*6/5)
	if m.Deal("failed in time", 2) == 1 { // it is not twice as long, either, by more than a server may be late
		ttr, leaseDelay, lookDelay = 2400, 0, ms(2400)+maxLateness+50*time.Millisecond
	}
	b, add := m.addJob(workq.Add, name, ttr, longTime, " -max-fails=9")
	lease := m.step(conn, "lease "+name+" 20")
	m.postpone(leaseDelay, func(conn, _ int) []explore.Step {
		m.postpone(lookDelay-leaseDelay, func(conn, _ int) []explore.Step {
			return append([]explore.Step{m.step(conn, "lease "+name+" 20")}, m.inspectJob(conn, b)...)
		})
		return []explore.Step{m.step(conn, "lease "+name+" 20")}
	})
	return []explore.Step{m.step(conn, add), lease, m.step(conn, "fail "+b.id+" * <- x")}
}
