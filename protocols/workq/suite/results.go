package suite

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// resultBlocks are blocks of reports that others wait for. Large ones have their turn where all that wait are read.
var resultBlocks = []string{" * <- done", " * <-", " * <- $filler(255B)", " * <- $filler(4097B)", " * <- x\r\n+OK\r\n"}

// runJobs has clients of run wait, for jobs of one name whose worker is there first or last, and reports in time, late
// or not.
func (m *maker) runJobs(conn, other int) (steps []explore.Step) {
	name, ttr := m.newName(), longTime
	isLate := m.Deal("ran", 3) == 0
	clients := []int{conn}
	if isLate {
		ttr = m.expiryTime()
	} else { // one or two others have a job of their own run
		free := slices.DeleteFunc(slices.Clone(m.Free()), func(n int) bool { return n == conn || n == other })
		clients = append(clients, free[:min(len(free), 1+m.IntN(2))]...)
	}
	lease := "lease " + name + " 4000" + waitSuffix
	for _, client := range clients {
		b := m.newJob(name)
		steps = append(steps, m.step(client, fmt.Sprintf("run %s %s %d 4000 * <- x", b.id, name, ttr)))
		report := pick(m, workq.Complete, workq.Complete, workq.Fail) + " " + b.id + pick(m, resultBlocks...)
		isLeased := func(c possibleState) bool { return c.state == leased || c.state == unknown }
		m.postponeUntil(b, isLeased, func(conn, _ int) []explore.Step {
			if !isLate {
				return []explore.Step{m.step(conn, report), m.step(conn, "lease "+name+" 20")}
			}
			m.postpone(ms(m.expiryTime())+maxLateness, func(conn, _ int) []explore.Step {
				return []explore.Step{m.step(conn, report), m.step(conn, "inspect job "+b.id)}
			})
			return nil
		})
	}
	if m.Deal("first", 2) == 0 {
		return append([]explore.Step{m.step(other, lease)}, steps...)
	}
	return append(steps, m.step(other, lease))
}

// severalWaitForResult has several clients wait for the result of jobs that come to it in one way, and not for anything
// else that happens to them. (result)
func (m *maker) severalWaitForResult(conn, other int) []explore.Step {
	name, ttr := m.newName(), longTime
	cause := []readiness{byAdd, byExpiry, byFailure}[m.Deal("result awaited", 3)] // again, before it ends
	if cause == byExpiry {
		ttr = m.expiryTime()
	}
	b, add := m.addJob(workq.Add, name, ttr, longTime, " -max-fails=2")
	lease := func() string { return "lease " + name + " 2600" + waitSuffix }
	wait := func(conn int) explore.Step { return m.step(conn, "result "+b.id+" 4500"+waitSuffix) }
	report := func(verb string) string { return verb + " " + b.id + pick(m, resultBlocks...) }
	steps := []explore.Step{m.step(conn, add), wait(other)}
	ends := func(conn, _ int) []explore.Step {
		return []explore.Step{m.step(conn, report(pick(m, workq.Complete, workq.Fail))), m.step(conn, "result "+b.id+" 0")}
	}
	attempts := func(n uint64) func(possibleState) bool {
		return func(c possibleState) bool { return c.state == leased && c.attempts == n }
	}
	m.postponeUntil(b, attempts(1), func(conn, other int) []explore.Step {
		if cause == byAdd {
			return ends(conn, other)
		}
		m.postponeUntil(b, attempts(2), ends)
		if cause == byExpiry {
			return []explore.Step{m.step(other, lease())}
		}
		return []explore.Step{m.step(conn, report(workq.Fail)), wait(conn), m.step(other, lease())}
	})
	return append(steps, m.step(conn, lease()))
}
