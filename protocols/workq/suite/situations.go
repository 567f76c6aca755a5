package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// situations are steps that seldom come together by chance: what they are about depends on several jobs, names or
// clients. They have names of their own. other is a second connection.
var situations = map[string]func(m *maker, conn, other int) []explore.Step{
	"names that all have a job": (*maker).fillNames, "a job for a lease that waits": (*maker).waitForJob,
	"a result for those who wait": (*maker).waitForResult, "a list in pages": (*maker).listPages,
	"commands in one piece": (*maker).sendTogether,
}

// Values returns Workq as [Alphabet] does, without the lives of jobs.
func Values() *explore.Alphabet {
	s := Alphabet()
	s.Generate = func(d *explore.Draw, l explore.Law) explore.Generator { return newMaker(d, l).values() }
	return s
}

// values returns the alphabet of [Values].
func (m *maker) values() explore.Generator {
	a := m.alphabet(moves)
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		a.Moves = append(a.Moves, m.situation(name))
	}
	return a
}

// situation returns the move of a situation.
func (m *maker) situation(name string) explore.Move {
	return explore.Move{
		Name: name, Weight: 0.5, Fits: func(int) bool { return m.canAdd() && len(m.Free()) > 1 && !m.Compared },
		Make: func(conn int) []explore.Step {
			other := conn
			for other == conn {
				other = m.Free()[m.IntN(len(m.Free()))]
			}
			return situations[name](m, conn, other)
		},
	}
}

// addPlain adds a job with one name, whose times do not end.
func (m *maker) addPlain(conn int, verb, name string) (jobRef, explore.Step) {
	b, dueTime := m.newJob(name), ""
	if verb == workq.Schedule {
		dueTime = "2040-01-02T15:04:05Z "
	}
	return b, m.step(conn, fmt.Sprintf("%s %s %s 600000 3600000 %s*%s <- x", verb, b.id, name, dueTime,
		m.flags(workq.Run)))
}

// newNames are some new names.
func (m *maker) newNames(n int) (all []string) {
	for range n {
		all = append(all, m.newName())
	}
	return all
}

// fillNames adds a job of each name, and leases one of them.
func (m *maker) fillNames(conn, other int) (steps []explore.Step) {
	names := m.newNames(2 + m.IntN(3))
	for _, name := range names {
		_, step := m.addPlain(conn, workq.Add, name)
		steps = append(steps, step)
	}
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	lease := m.step(other, "lease "+strings.Join(names, " ")+" 20")
	return append(steps, lease, lease)
}

// longWait is a time to wait that is not over when what is awaited has come. Some are short in a narrower type.
func (m *maker) longWait() string {
	return pick(m, "1000", "1500", "2147483648", "4294967296", "4294967300") + waitSuffix
}

// waitForJob waits for a job of several names, of which one is added.
func (m *maker) waitForJob(conn, other int) []explore.Step {
	names := m.newNames(1 + m.IntN(4))
	_, add := m.addPlain(other, workq.Add, pick(m, names...))
	return []explore.Step{m.step(conn, "lease "+strings.Join(names, " ")+" "+m.longWait()), add}
}

// waitForResult waits for the result of a job, which is leased and reported.
func (m *maker) waitForResult(conn, other int) (steps []explore.Step) {
	name := m.newName()
	if m.IntN(2) == 0 {
		b := m.newJob(name)
		steps = append(steps, m.step(conn, fmt.Sprintf("run %s %s 600000 %s *%s%s", b.id, name,
			strings.TrimSuffix(m.longWait(), waitSuffix), m.flags(workq.Run),
			strings.TrimPrefix(m.sizedBlock(workq.Run), " *"))))
	} else {
		b, add := m.addPlain(other, workq.Add, name)
		steps = append(steps, add, m.step(conn, "result "+b.id+" "+m.longWait()))
	}
	id := m.jobs[len(m.jobs)-1].id
	verb := pick(m, workq.Complete, workq.Fail)
	return append(steps, m.step(other, "lease "+name+" 2000"), m.step(other, verb+" "+id+m.block(verb)))
}

// listPages adds several jobs of one name, and lists them page by page.
func (m *maker) listPages(conn, _ int) (steps []explore.Step) {
	name, verb, list := m.newName(), workq.Add, workq.InspectJobs
	if m.IntN(2) == 0 {
		verb, list = workq.Schedule, workq.InspectScheduled
	}
	sizes := []int{2, 3, 5, 12}
	n := sizes[m.Deal("paged", len(sizes))]
	for range n {
		_, step := m.addPlain(conn, verb, name)
		steps = append(steps, step)
	}
	for offset, size := 0, 1+m.IntN(2)+n/4; offset <= n; offset += size {
		steps = append(steps, m.step(conn, fmt.Sprintf("%s %s %d %d", list, name, offset, size)))
	}
	return append(steps, m.step(conn, fmt.Sprintf("%s %s 0 100", list, name)), m.step(conn, "inspect queue "+name))
}

// sendTogether sends several commands at once, some of which are refused. (Protocol)
func (m *maker) sendTogether(conn, _ int) []explore.Step {
	sizes := []int{2, 2, 3, 3, 4, 5, 9, 17}
	name, all := m.newName(), ""
	for range sizes[m.Deal("piece", len(sizes))] {
		b := m.jobIn(ready, leased)
		switch m.Deal("in a piece", 9) {
		case 0, 1:
			b = m.newJob(name)
			all += withSize(fmt.Sprintf("add %s %s 600000 3600000 *", b.id, name), "payload")
		case 2:
			all += withSize("complete "+b.id+" *", "result\r\n+OK")
		case 3:
			all += withSize("fail "+b.id+" *", "")
		case 4:
			if m.hasJobs() {
				head, block, _ := strings.Cut(m.addAgain(), blockSign+" ")
				all += withSize(head, block)
			}
		default:
			all += pick(m, "lease "+name+" 1", "result "+b.id+" 0", "inspect job "+b.id, "delete "+b.id,
				"inspect queue "+name, "inspect jobs "+name+" 0 9") + "\r\n"
		}
	}
	return []explore.Step{m.build.Bytes(conn, all)}
}
