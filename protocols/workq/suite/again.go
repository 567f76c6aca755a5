package suite

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// reuseID has another command come with the id of a job that has gone some way, and is there, or was deleted by a
// client or by its time. It adds nothing to a job that is there, and nothing of a deleted one is left. (add, delete)
func (m *maker) reuseID(conn, _ int) (steps []explore.Step) {
	deletes := m.Deal("added again", 3)
	if deletes == 2 { //nolint:mnd // their times to live do
		for n := range paths {
			steps = append(steps, m.reuseLapsedID(conn, n)...)
		}
		return steps
	}
	b, add := m.addJob(workq.Add, m.newName(), longTime, longTime, m.limitFlags())
	lines := append([]string{add}, b.commands(m.Deal("added again, and there", paths))...)
	for n := range deletes * paths {
		lines = append(lines, "delete "+b.id, "complete "+b.id+" * <- late", "result "+b.id+" 0", add)
		lines = append(lines, b.commands(n)...)
	}
	if deletes == 1 {
		lines = append(lines, "delete "+b.id)
	}
	return m.steps(conn, append(lines, m.sameID(b)...))
}

// reuseLapsedID has the time to live of a job end that has gone some way, and another one come with its id.
func (m *maker) reuseLapsedID(conn, way int) []explore.Step {
	ttl := m.span(400, 600)
	b, add := m.addJob(workq.Add, m.newName(), longTime, ttl, m.limitFlags())
	m.postpone(ms(ttl)+maxLateness, func(conn, _ int) []explore.Step {
		return m.steps(conn,
			[]string{"inspect job " + b.id})
	})
	m.postponeUntil(b, func(c possibleState) bool { return c.state == deleted }, func(conn, _ int) []explore.Step {
		return m.steps(conn, m.sameID(b))
	})
	return m.steps(conn, append([]string{add}, b.commands(way)...))
}

// paths is how many ways there are that a job goes before another one has its id.
const paths = 5

// commands are the commands of such a way.
func (b jobRef) commands(way int) []string {
	lease, fails, completes := "lease "+b.name+" 20", "fail "+b.id+" * <- x", "complete "+b.id+" * <- x"
	return [paths][]string{nil, {lease}, {lease, fails}, {lease, fails, lease}, {lease, completes}}[way]
}

func (m *maker) limitFlags() string { return pick(m, " -max-fails=9", " -max-fails=9 -max-attempts=9") }

// sameID are the commands of another job with the id of one.
func (m *maker) sameID(b jobRef) []string {
	flags, inspects := pick(m, "", " -max-attempts=2", " -max-fails=2 -max-attempts=9"), "inspect job "+b.id
	return []string{
		fmt.Sprintf("add %s %s %d %d *%s <- again", b.id, b.name, longTime, longTime, flags), inspects,
		"lease " + b.name + " 20", inspects, "fail " + b.id + " * <- x", inspects, "result " + b.id + " 0",
	}
}

// steps are those of one connection.
func (m *maker) steps(conn int, lines []string) (steps []explore.Step) {
	for _, line := range lines {
		steps = append(steps, m.step(conn, line))
	}
	return steps
}
