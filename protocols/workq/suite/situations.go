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
	"names that all have a job": (*maker).allFilled, "a job for a lease that waits": (*maker).awaitedJob,
	"a result for those who wait": (*maker).awaitedResult, "a list in pages": (*maker).paged,
	"commands in one piece": (*maker).inOnePiece,
}

// Values returns Workq as [New] does, without the lives of jobs.
func Values() *explore.Subject {
	s := Subject()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet { return newMaker(d, l).values() }
	return s
}

// values returns the alphabet of [Values].
func (m *maker) values() explore.Alphabet {
	a := m.alphabet(moves)
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		a.Moves = append(a.Moves, m.situation(name))
	}
	return a
}

// situation returns the move of a situation.
func (m *maker) situation(name string) explore.Move {
	return explore.Move{
		Name: name, Weight: 0.5, Fits: func(int) bool { return m.adds() && len(m.Free()) > 1 && !m.Compared },
		Make: func(conn int) []explore.Step {
			other := conn
			for other == conn {
				other = m.Free()[m.IntN(len(m.Free()))]
			}
			return situations[name](m, conn, other)
		},
	}
}

// plain adds a job with one name, whose times do not end.
func (m *maker) plain(conn int, verb, name string) (birth, explore.Step) {
	b, due := m.job(name), ""
	if verb == workq.Schedule {
		due = "2040-01-02T15:04:05Z "
	}
	return b, m.step(conn, fmt.Sprintf("%s %s %s 600000 3600000 %s*%s <- x", verb, b.id, name, due, m.flags(workq.Run)))
}

// freshNames are some new names.
func (m *maker) freshNames(n int) (all []string) {
	for range n {
		all = append(all, m.freshName())
	}
	return all
}

// allFilled adds a job of each name, and leases one of them.
func (m *maker) allFilled(conn, other int) (steps []explore.Step) {
	names := m.freshNames(2 + m.IntN(3))
	for _, name := range names {
		_, step := m.plain(conn, workq.Add, name)
		steps = append(steps, step)
	}
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	lease := m.step(other, "lease "+strings.Join(names, " ")+" 20")
	return append(steps, lease, lease)
}

// long is a time to wait that is not over when what is awaited has come. Some are short in a narrower type.
func (m *maker) long() string {
	return oneOf(m, "1000", "1500", "2147483648", "4294967296", "4294967300") + patient
}

// awaitedJob waits for a job of several names, of which one is added.
func (m *maker) awaitedJob(conn, other int) []explore.Step {
	names := m.freshNames(1 + m.IntN(4))
	_, add := m.plain(other, workq.Add, oneOf(m, names...))
	return []explore.Step{m.step(conn, "lease "+strings.Join(names, " ")+" "+m.long()), add}
}

// awaitedResult waits for the result of a job, which is leased and reported.
func (m *maker) awaitedResult(conn, other int) (steps []explore.Step) {
	name := m.freshName()
	if m.IntN(2) == 0 {
		b := m.job(name)
		steps = append(steps, m.step(conn, fmt.Sprintf("run %s %s 600000 %s *%s%s", b.id, name,
			strings.TrimSuffix(m.long(), patient), m.flags(workq.Run), strings.TrimPrefix(m.sizedBlock(workq.Run), " *"))))
	} else {
		b, add := m.plain(other, workq.Add, name)
		steps = append(steps, add, m.step(conn, "result "+b.id+" "+m.long()))
	}
	id := m.born[len(m.born)-1].id
	verb := oneOf(m, workq.Complete, workq.Fail)
	return append(steps, m.step(other, "lease "+name+" 2000"), m.step(other, verb+" "+id+m.block(verb)))
}

// paged adds several jobs of one name, and lists them page by page.
func (m *maker) paged(conn, _ int) (steps []explore.Step) {
	name, verb, list := m.freshName(), workq.Add, workq.InspectJobs
	if m.IntN(2) == 0 {
		verb, list = workq.Schedule, workq.InspectScheduled
	}
	sizes := []int{2, 3, 5, 12}
	n := sizes[m.Deal("paged", len(sizes))]
	for range n {
		_, step := m.plain(conn, verb, name)
		steps = append(steps, step)
	}
	for offset, size := 0, 1+m.IntN(2)+n/4; offset <= n; offset += size {
		steps = append(steps, m.step(conn, fmt.Sprintf("%s %s %d %d", list, name, offset, size)))
	}
	return append(steps, m.step(conn, fmt.Sprintf("%s %s 0 100", list, name)), m.step(conn, "inspect queue "+name))
}

// inOnePiece sends several commands at once, some of which are refused. (Protocol)
func (m *maker) inOnePiece(conn, _ int) []explore.Step {
	sizes := []int{2, 2, 3, 3, 4, 5, 9, 17}
	name, all := m.freshName(), ""
	for range sizes[m.Deal("piece", len(sizes))] {
		b := m.one(ready, leased)
		switch m.Deal("in a piece", 9) {
		case 0, 1:
			b = m.job(name)
			all += sized(fmt.Sprintf("add %s %s 600000 3600000 *", b.id, name), "payload")
		case 2:
			all += sized("complete "+b.id+" *", "result\r\n+OK")
		case 3:
			all += sized("fail "+b.id+" *", "")
		case 4:
			if m.some() {
				head, block, _ := strings.Cut(m.again(), blockSign+" ")
				all += sized(head, block)
			}
		default:
			all += oneOf(m, "lease "+name+" 1", "result "+b.id+" 0", "inspect job "+b.id, "delete "+b.id,
				"inspect queue "+name, "inspect jobs "+name+" 0 9") + "\r\n"
		}
	}
	return []explore.Step{m.build.Bytes(conn, all)}
}
