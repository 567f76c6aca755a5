package suite

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// addedAgain has another command come with the id of a job that has gone some way, and is there, or was deleted by a
// client or by its time. It adds nothing to a job that is there, and nothing of a deleted one is left. (add, delete)
func (m *maker) addedAgain(conn, _ int) (steps []explore.Step) {
	deletes := m.Deal("added again", 3)
	if deletes == 2 { //nolint:mnd // their times to live do
		for n := range paths {
			steps = append(steps, m.lapsed(conn, n)...)
		}
		return steps
	}
	b, add := m.bear(workq.Add, m.freshName(), longTime, longTime, m.twoFlags())
	lines := append([]string{add}, b.goes(m.Deal("added again, and there", paths))...)
	for n := range deletes * paths {
		lines = append(lines, "delete "+b.id, "complete "+b.id+" * <- late", "result "+b.id+" 0", add)
		lines = append(lines, b.goes(n)...)
	}
	if deletes == 1 {
		lines = append(lines, "delete "+b.id)
	}
	return m.steps(conn, append(lines, m.another(b)...))
}

// lapsed has the time to live of a job end that has gone some way, and another one come with its id.
func (m *maker) lapsed(conn, way int) []explore.Step {
	ttl := m.span(400, 600)
	b, add := m.bear(workq.Add, m.freshName(), longTime, ttl, m.twoFlags())
	m.later(ms(ttl)+late, func(conn, _ int) []explore.Step { return m.steps(conn, []string{"inspect job " + b.id}) })
	m.onceItIs(b, func(c config) bool { return c.state == deleted }, func(conn, _ int) []explore.Step {
		return m.steps(conn, m.another(b))
	})
	return m.steps(conn, append([]string{add}, b.goes(way)...))
}

// paths is how many ways there are that a job goes before another one has its id.
const paths = 5

// goes are the commands of such a way.
func (b birth) goes(way int) []string {
	lease, fails, completes := "lease "+b.name+" 20", "fail "+b.id+" * <- x", "complete "+b.id+" * <- x"
	return [paths][]string{nil, {lease}, {lease, fails}, {lease, fails, lease}, {lease, completes}}[way]
}

func (m *maker) twoFlags() string { return oneOf(m, " -max-fails=9", " -max-fails=9 -max-attempts=9") }

// another are the commands of another job with the id of one.
func (m *maker) another(b birth) []string {
	flags, inspects := oneOf(m, "", " -max-attempts=2", " -max-fails=2 -max-attempts=9"), "inspect job "+b.id
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
