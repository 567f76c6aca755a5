package suite

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// resultsOfWays are blocks of reports that others wait for. Large ones have their turn where all that wait are read.
var resultsOfWays = []string{" * <- done", " * <-", " * <- $filler(255B)", " * <- $filler(4097B)", " * <- x\r\n+OK\r\n"}

// ran has clients of run wait, for jobs of one name whose worker is there first or last, and reports in time, late or
// not.
func (m *maker) ran(conn, other int) (steps []explore.Step) {
	name, ttr := m.freshName(), longTime
	tooLate := m.Deal("ran", 3) == 0
	clients := []int{conn}
	if tooLate {
		ttr = m.expires()
	} else { // one or two others have a job of their own run
		free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn || n == other })
		clients = append(clients, free[:min(len(free), 1+m.IntN(2))]...)
	}
	lease := "lease " + name + " 4000" + patient
	for _, client := range clients {
		b := m.job(name)
		steps = append(steps, m.step(client, fmt.Sprintf("run %s %s %d 4000 * <- x", b.id, name, ttr)))
		reported := oneOf(m, workq.Complete, workq.Complete, workq.Fail) + " " + b.id + oneOf(m, resultsOfWays...)
		worked := func(c config) bool { return c.state == leased || c.state == open }
		m.onceItIs(b, worked, func(conn, _ int) []explore.Step {
			if !tooLate {
				return []explore.Step{m.step(conn, reported), m.step(conn, "lease "+name+" 20")}
			}
			m.later(ms(m.expires())+late, func(conn, _ int) []explore.Step {
				return []explore.Step{m.step(conn, reported), m.step(conn, "inspect job "+b.id)}
			})
			return nil
		})
	}
	if m.Deal("first", 2) == 0 {
		return append([]explore.Step{m.step(other, lease)}, steps...)
	}
	return append(steps, m.step(other, lease))
}

// resultAwaited has several clients wait for the result of jobs that come to it in one way, and not for anything else
// that happens to them. (result)
func (m *maker) resultAwaited(conn, other int) []explore.Step {
	name, ttr := m.freshName(), longTime
	how := []readiness{byAdd, byExpiry, byFailure}[m.Deal("result awaited", 3)] // again, before it ends
	if how == byExpiry {
		ttr = m.expires()
	}
	b, add := m.bear(workq.Add, name, ttr, longTime, " -max-fails=2")
	lease := func() string { return "lease " + name + " 2600" + patient }
	wait := func(conn int) explore.Step { return m.step(conn, "result "+b.id+" 4500"+patient) }
	report := func(verb string) string { return verb + " " + b.id + oneOf(m, resultsOfWays...) }
	steps := []explore.Step{m.step(conn, add), wait(other)}
	ends := func(conn, _ int) []explore.Step {
		return []explore.Step{m.step(conn, report(oneOf(m, workq.Complete, workq.Fail))), m.step(conn, "result "+b.id+" 0")}
	}
	attempts := func(n uint64) func(config) bool {
		return func(c config) bool { return c.state == leased && c.attempts == n }
	}
	m.onceItIs(b, attempts(1), func(conn, other int) []explore.Step {
		if how == byAdd {
			return ends(conn, other)
		}
		m.onceItIs(b, attempts(2), ends)
		if how == byExpiry {
			return []explore.Step{m.step(other, lease())}
		}
		return []explore.Step{m.step(conn, report(workq.Fail)), wait(conn), m.step(other, lease())}
	})
	return append(steps, m.step(conn, lease()))
}
