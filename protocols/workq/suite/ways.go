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
	due  time.Time
	when func() bool
	do   func(conn, other int) []explore.Step
}

// later puts an errand off.
func (m *maker) later(d time.Duration, do func(conn, other int) []explore.Step) {
	m.errands = append(m.errands, errand{due: time.Now().Add(d), do: do})
}

// onceItIs puts an errand off until all that may be of a job is so.
func (m *maker) onceItIs(b birth, is func(config) bool, do func(conn, other int) []explore.Step) {
	when := func() bool {
		j := m.law.jobs[m.Fill(b.id)]
		return j != nil && j.all(is)
	}
	m.errands = append(m.errands, errand{due: time.Now(), when: when, do: do})
}

// errandNow returns the index of the errand that may be done longest, -1 for none.
func (m *maker) errandNow() int {
	now, first := time.Now(), -1
	for i, e := range m.errands {
		if !now.Before(e.due) && (e.when == nil || e.when()) && (first < 0 || e.due.Before(m.errands[first].due)) {
			first = i
		}
	}
	return first
}

// waysMoves are the moves of the ways that jobs go as time passes, each of which is begun in turn, and of errands.
func (m *maker) waysMoves(begins func() bool) []explore.Move {
	ways := []func(conn, other int) []explore.Step{
		m.lateReport, m.deadline, m.comeReady, m.awaited, m.ran, m.leasedAgain, m.resultAwaited, m.failedInTime,
		m.addedAgain, m.counted,
	}
	fits := func(int) bool { return len(m.Free()) > 1 }
	other := func(conn int) int {
		free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn })
		return free[m.IntN(len(free))]
	}
	return []explore.Move{
		{Name: "way", Weight: 20, Fits: func(conn int) bool { return begins() && fits(conn) },
			Make: func(conn int) []explore.Step {
				m.ways++
				before := len(m.born)
				steps := ways[m.Deal("way", len(ways))](conn, other(conn))
				m.ofWays += len(m.born) - before
				return steps
			}},
		{Name: "errand", Weight: 60, Fits: func(conn int) bool { return m.errandNow() >= 0 && fits(conn) },
			Make: func(conn int) []explore.Step {
				i := m.errandNow()
				do := m.errands[i].do
				m.errands = slices.Delete(m.errands, i, i+1)
				return do(conn, other(conn))
			}},
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// span returns a time from low to high at the pace of the lives, in milliseconds.
func (m *maker) span(low, high int) int { return m.pace * (low + m.IntN(high-low)) }

// bear adds or schedules a job of a way.
func (m *maker) bear(verb, name string, ttr, ttl int, flags string) (birth, string) {
	b, due := m.job(name), ""
	if verb == workq.Schedule {
		due = fmt.Sprintf("$now+%dms ", 1000+m.ways) // a name of a time has one value: all of a way are due at once
	}
	return b, fmt.Sprintf("%s %s %s %d %d %s*%s <- %s", verb, b.id, name, ttr, ttl, due, flags, b.id[1:])
}

// longTime is more than a way lasts, in milliseconds.
const longTime = 3_600_000

// look looks at a job in a way that is dealt, and then in the plainest ones.
func (m *maker) look(conn int, b birth) []explore.Step {
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

// lateReport has a worker report a job when its time to run is over, and another worker may have leased it: it is over
// then, also when the time to run of that one is, or that one reports. (lease, Special Considerations)
func (m *maker) lateReport(conn, _ int) []explore.Step {
	name, ttr := m.freshName(), m.span(200, 400)
	all := []string{"", " -max-fails=9", " -max-attempts=2", " -max-attempts=3 -max-fails=2"}
	b, add := m.bear(workq.Add, name, ttr, longTime, all[m.Deal("flags of late ones", len(all))])
	reports := []string{"complete " + b.id + " * <- late", "fail " + b.id + " * <- late"}
	if m.IntN(3) == 0 {
		slices.Reverse(reports)
	}
	over := func(conn, other int) []explore.Step {
		m.later(ms(ttr+200), func(conn, _ int) []explore.Step { return m.look(conn, b) })
		steps := append([]explore.Step{m.step(other, reports[0])}, m.look(conn, b)...)
		return append(append(steps, m.step(other, reports[1])), m.look(conn, b)...)
	}
	again := m.Deal("late report", 3) > 0
	m.later(ms(ttr+m.IntN(2)*200), func(conn, other int) []explore.Step {
		if !again {
			return over(conn, other)
		}
		m.onceItIs(b, func(c config) bool { return c.state == leased && c.attempts == 2 }, over)
		return []explore.Step{m.step(conn, fmt.Sprintf("lease %s 2600%s", name, patient))}
	})
	return []explore.Step{m.step(conn, add), m.step(conn, "lease "+name+" 20")}
}

// deadline has the time to live of a job end, in each state that it may have come to at once, or shortly before. What
// happens to the job, an inspect and a second add with its id do not put it off.
func (m *maker) deadline(conn, worker int) []explore.Step {
	name, ttl, last := m.freshName(), m.span(400, 600), m.Deal("last", 2) == 1
	early := 250
	switch { // by more than a server may be late
	case last && m.pace > 1:
		ttl, early = 6000, 1500
	case last:
		ttl = 2450
	}
	id := fmt.Sprintf("$id%d", len(m.born)+1)
	lease, completes, fails := "lease "+name+" 20", "complete "+id+" * <- x", "fail "+id+" * <- x"
	states := []struct {
		verb, flags string
		does        []string
	}{
		{verb: workq.Add}, {verb: workq.Schedule}, {workq.Add, "", []string{lease}},
		{workq.Add, "", []string{lease, completes}}, {workq.Add, "", []string{lease, fails}},
		{workq.Add, " -max-fails=9", []string{lease, fails}},
		{workq.Add, "", []string{lease, "result " + id + " 2600" + patient}},
	}
	state := states[m.Deal("deadline", len(states))]
	other := []string{"", " -max-attempts=3", " -priority=7"}[m.Deal("deadline flags", 3)]
	b, add := m.bear(state.verb, name, longTime, ttl, state.flags+other)
	does := func(conn, _ int) []explore.Step { return m.steps(conn, state.does) }
	m.later(ms(ttl)+late, func(conn, _ int) []explore.Step { return m.look(conn, b) })
	steps := []explore.Step{m.step(conn, add)}
	touches := []string{"", "inspect job " + id, add}
	if touch := touches[m.Deal("touched", len(touches))]; touch != "" && last {
		state.does = append(slices.Clip(state.does), touch)
	}
	if !last {
		return append(steps, does(worker, conn)...)
	}
	m.later(ms(ttl-early), does)
	return steps
}

// counted has the time to live of several jobs end that are all leased, or have all been completed: it is seen in the
// numbers of the server.
func (m *maker) counted(conn, _ int) (steps []explore.Step) {
	name, ttl, completes := m.freshName(), m.span(400, 600), m.Deal("counted", 2) == 1
	const several = 8
	for range several {
		b, add := m.bear(workq.Add, name, longTime, ttl, "")
		steps = append(steps, m.step(conn, add), m.step(conn, "lease "+name+" 20"))
		if completes {
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

// expires is how long the jobs run that are ready byExpiry, in milliseconds.
func (m *maker) expires() int { return 300 * m.pace }

// readyBy returns the verb and the time to run of a job that comes to be ready in a way.
func (m *maker) readyBy(r readiness) (verb string, ttr int) {
	switch r {
	case byExpiry:
		return workq.Add, m.expires()
	case bySchedule:
		return workq.Schedule, longTime
	}
	return workq.Add, longTime
}

// comeReady is ordered of jobs that come to be ready in a way that is dealt.
func (m *maker) comeReady(conn, _ int) []explore.Step {
	return m.ordered(conn, readiness(m.Deal("ready", 4)))
}

// priorities are those of the jobs of [maker.ordered]: neighbours at the borders, and where a float of 32 bits has
// none.
var priorities = []int{
	-2, -1, 0, 1, 2, workq.MinPriority, workq.MinPriority + 1, workq.MaxPriority, workq.MaxPriority - 1, 1<<24 + 1,
	1 << 24,
}

// ordered has several jobs of one name, with priorities, listed, and leased one after the other, when all have come to
// be ready in one way, and a few more by an add. (Glossary, Priority)
func (m *maker) ordered(conn int, how readiness) (steps []explore.Step) {
	sizes := []int{17, 3, 33, 5, 9}
	n, name := sizes[m.Deal("ordered", len(sizes))], m.freshName()
	verb, ttr := m.readyBy(how)
	var all []birth
	adds := func(n int, verb string, ttr int, priority func(i int) int) (steps []explore.Step) {
		for i := range n {
			b, add := m.bear(verb, name, ttr, longTime, fmt.Sprintf(" -priority=%d%s", priority(i), m.twoFlags()))
			all, steps = append(all, b), append(steps, m.step(conn, add))
		}
		return steps
	}
	few := func(int) int { return m.IntN(4) }
	lease := func(conn, _ int) []explore.Step {
		steps := []explore.Step{m.step(conn, "inspect jobs "+name+" 0 100")}
		for range all {
			steps = append(steps, m.step(conn, "lease "+name+" 20"))
		}
		return append(steps, m.step(conn, "inspect queue "+name))
	}
	mixed := func(conn, other int) []explore.Step {
		return append(adds(3, workq.Add, longTime, few), lease(conn, other)...)
	}
	if verb == workq.Schedule {
		m.later(time.Second+skew+late, mixed)
		_, last := m.plain(conn, verb, name) // what is due late holds up nothing that is due before it
		return append([]explore.Step{last}, adds(n, verb, ttr, few)...)
	}
	steps = adds(n, verb, ttr, func(i int) int { return priorities[(i+m.IntN(2))%len(priorities)] })
	steps = append(steps, lease(conn, 0)...)
	switch how {
	case byExpiry:
		m.later(ms(m.expires())+late, mixed)
	case byFailure:
		m.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, b := range all {
			steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
		}
		steps = append(steps, mixed(conn, 0)...)
	}
	return steps
}

// awaited has several leases of several names wait, for jobs that come in one way. (lease)
func (m *maker) awaited(conn, other int) (steps []explore.Step) {
	names := m.freshNames(1 + m.IntN(4))
	name := oneOf(m, names...)
	how, there := readiness(m.Deal("awaited", 4)), m.Deal("there", 4) == 0 // before it is asked for
	verb, ttr := m.readyBy(how)
	b, add := m.bear(verb, name, ttr, longTime, " -max-fails=9")
	if how != byAdd || there {
		steps = append(steps, m.step(conn, add))
	}
	if how == byExpiry || how == byFailure {
		steps = append(steps, m.step(conn, "lease "+name+" 20"))
	}
	free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn || n == other })
	waiting, wait := append([]int{other}, free[:min(len(free), m.IntN(2))]...), 4500
	if len(waiting) == 1 && (how == byAdd || how == byFailure) {
		wait = 1<<16 + 4 // of one that gets the job, which comes before anybody else can ask for it
	}
	for _, n := range waiting {
		m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		steps = append(steps, m.step(n, fmt.Sprintf("lease %s %d%s", strings.Join(names, " "), wait, patient)))
	}
	switch {
	case how == byAdd && !there:
		steps = append(steps, m.step(conn, add))
	case how == byFailure:
		steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
	}
	return steps
}

// leasedAgain has one job leased several times, with limits: a lease ends with its time to run, or by a fail. When the
// job has no attempt or fail left, the next lease is in vain.
func (m *maker) leasedAgain(conn, other int) []explore.Step {
	const byFail = 'f' // of ends; t is by its time to run
	all := []struct{ limits, ends string }{
		{"", "ttt"}, {" -max-attempts=2 -max-fails=9", "ft"}, {" -max-attempts=9 -max-fails=2", "ftf"},
		{" -max-attempts=9", "tt"}, {" -max-attempts=3 -max-fails=3", "tft"}, {" -max-fails=1", "ttf"},
	}
	how := all[m.Deal("leased again", len(all))]
	name, ttr := m.freshName(), m.span(200, 250)
	if m.pace > 1 {
		ttr = 2300 // a lease that lasts twice as long is more than late
	}
	b, add := m.bear(workq.Add, name, ttr, longTime, how.limits)
	lease := fmt.Sprintf("lease %s %d%s", name, ttr+2400, patient) // longer than a server may be late
	var next func(n int) func(conn, other int) []explore.Step
	next = func(n int) func(conn, other int) (steps []explore.Step) {
		return func(conn, other int) (steps []explore.Step) {
			if n > 0 && how.ends[n-1] == byFail {
				steps = append(steps, m.step(conn, "fail "+b.id+" * <- x"))
			}
			if n < len(how.ends) {
				m.onceItIs(b, func(c config) bool { return c.state == leased && c.attempts == uint64(n+1) }, next(n+1))
			}
			return append(steps, m.step(conn, lease), m.step(other, "inspect job "+b.id))
		}
	}
	return append([]explore.Step{m.step(conn, add)}, next(0)(conn, other)...)
}

// failedInTime has a job fail while it may run, and leased again: the second worker has a time to run of its own, which
// is as long.
func (m *maker) failedInTime(conn, _ int) []explore.Step {
	name, ttr := m.freshName(), m.pace*1200
	again, look := ms(ttr*2/3), ms(ttr*6/5)
	if m.Deal("failed in time", 2) == 1 { // it is not twice as long, either, by more than a server may be late
		ttr, again, look = 2400, 0, ms(2400)+late+50*time.Millisecond
	}
	b, add := m.bear(workq.Add, name, ttr, longTime, " -max-fails=9")
	lease := m.step(conn, "lease "+name+" 20")
	m.later(again, func(conn, _ int) []explore.Step {
		m.later(look-again, func(conn, _ int) []explore.Step {
			return append([]explore.Step{m.step(conn, "lease "+name+" 20")}, m.look(conn, b)...)
		})
		return []explore.Step{m.step(conn, "lease "+name+" 20")}
	})
	return []explore.Step{m.step(conn, add), lease, m.step(conn, "fail "+b.id+" * <- x")}
}
