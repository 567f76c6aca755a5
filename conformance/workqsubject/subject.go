package workqsubject

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/workqdialect"
	"github.com/fwpsuite/fwp/workq"
)

// New returns Workq as a subject of exploring.
func New() *explore.Subject {
	return &explore.Subject{
		Dialect:  workqdialect.Dialect{},
		Start:    func(t law.Terms) explore.Law { return newLaw(t) },
		Alphabet: alphabet,
		Jobs:     "id",
		Accepted: "+OK",
		Question: workq.InspectQueues + " 0 1",
		Rules:    rules,
		Seeds:    seeds,
	}
}

// seeds are the lives of a job: leased and completed, failed until it is not tried again, and deleted. A server may
// choose among several jobs by chance, and these have one.
func seeds(string) (all []explore.Trace) {
	b := explore.Builder{Dialect: workqdialect.Dialect{}}
	for _, lines := range [][]string{
		{"add $id1 $name1 600000 3600000 * <- x", "lease $name1 20", "complete $id1 * <- pong", "result $id1 0",
			"inspect job $id1", "lease $name1 20"},
		{"add $id1 $name1 600000 3600000 * -max-fails=2 <- x", "lease $name1 20", "fail $id1 * <- bad", "inspect job $id1",
			"lease $name1 20", "fail $id1 * <- worse", "inspect job $id1", "result $id1 0", "lease $name1 20"},
		{"add $id1 $name1 600000 3600000 * <- x", "inspect queue $name1", "delete $id1",
			"inspect job $id1", "lease $name1 20"},
	} {
		steps := []explore.Step{b.Open(2, scenarios.Producer, "")}
		for _, line := range lines {
			steps = append(steps, b.Line(2, "%s", line))
		}
		all = append(all, explore.Trace{Steps: steps})
	}
	return all
}

// never is an id that is not added.
const never = "$id900000"

// maker makes up commands.
type maker struct {
	*explore.Draw
	law   *workqLaw
	build explore.Builder
	jobs  int // that were added, $id1 and on
}

func alphabet(d *explore.Draw, l explore.Law) explore.Alphabet {
	m := &maker{Draw: d, law: l.(*workqLaw), build: explore.Builder{Dialect: workqdialect.Dialect{}}}
	always := func(int) bool { return true }
	some := func(int) bool { return m.jobs > 0 }
	move := func(name string, weight float64, fits func(int) bool, text func() string) explore.Move {
		return explore.Move{Name: name, Weight: weight, Fits: fits, Make: func(conn int) []explore.Step {
			return []explore.Step{m.build.Line(conn, "%s", text())}
		}}
	}
	return explore.Alphabet{
		Open: func(conn int) explore.Step { return m.build.Open(conn, scenarios.Producer, "") },
		Moves: []explore.Move{
			move("add", 3, always, m.add),
			move("add again", 0.3, some, func() string {
				return fmt.Sprintf("add $id%d %s 600000 3600000 * <- again", 1+m.IntN(m.jobs), m.name())
			}),
			move("schedule", 0.5, always, m.schedule),
			move("lease", 5, always, m.lease),
			move("complete", 1, m.holds, func() string { return "complete " + m.held() + " * <-" + m.payload() }),
			move("fail", 1, m.holds, func() string { return "fail " + m.held() + " * <-" + m.payload() }),
			move("finish unknown", 0.2, always, func() string {
				return []string{"complete ", "fail "}[m.IntN(2)] + never + " * <- x"
			}),
			move("result", 1, always, func() string { return "result " + m.id() + " 0" }),
			move("delete", 0.5, always, func() string { return "delete " + m.id() }),
			move("inspect job", 1.5, always, func() string { return "inspect job " + m.id() }),
			move("inspect queue", 0.7, always, func() string { return "inspect queue " + m.name() }),
			move("inspect jobs", 0.7, always, func() string { return "inspect jobs " + m.name() + m.page() }),
			move("inspect scheduled-jobs", 0.4, always, func() string {
				return "inspect scheduled-jobs " + m.name() + m.page()
			}),
			move("inspect queues", 0.2, always, func() string { return "inspect queues" + m.page() }),
			move("inspect server", 0.05, always, func() string { return "inspect server" }),
			move("malformed", 0.5, always, m.malformed),
		},
	}
}

// page is a part of a list.
func (m *maker) page() string { return []string{" 0 100", " 0 1", " 1 1", " 1 2"}[m.IntN(4)] }

func (m *maker) name() string { return fmt.Sprintf("$name%d", 1+m.IntN(3)) }

// id is one of those that were added, mostly of the last ones, or one that was not.
func (m *maker) id() string {
	if m.jobs == 0 || m.IntN(12) == 0 {
		return never
	}
	const last = 12
	return fmt.Sprintf("$id%d", m.jobs-m.IntN(min(m.jobs, last)))
}

// leasedIDs are the ids that workers hold.
func (m *maker) leasedIDs() (all []string) {
	for n := max(1, m.jobs-40); n <= m.jobs; n++ {
		id := fmt.Sprintf("$id%d", n)
		if j := m.law.jobs[m.Fill(id)]; j != nil && j.may(leased) {
			all = append(all, id)
		}
	}
	return all
}

func (m *maker) holds(int) bool { return len(m.leasedIDs()) > 0 }

func (m *maker) held() string {
	all := m.leasedIDs()
	if len(all) == 0 {
		return never
	}
	return all[m.IntN(len(all))]
}

// payload is a block behind its sign, with the blank in front of it.
func (m *maker) payload() string {
	return []string{"", " x", " pong", " a b", "  blanks", " -TIMEOUT", " +OK 1",
		" " + strings.Repeat("0123456789", 400)}[m.IntN(8)]
}

func (m *maker) add() string {
	m.jobs++
	flags := ""
	if m.Uses("priority") && m.IntN(3) == 0 {
		flags += fmt.Sprintf(" -priority=%d", []int{-2147483648, -1, 1, 10, 2147483647}[m.IntN(5)])
	}
	if m.IntN(4) == 0 {
		flags += fmt.Sprintf(" -max-fails=%d", 1+m.IntN(3))
	}
	if m.IntN(6) == 0 {
		flags += fmt.Sprintf(" -max-attempts=%d", []int{1, 3, 255}[m.IntN(3)])
	}
	return fmt.Sprintf("add $id%d %s %d 3600000 *%s <-%s", m.jobs, m.name(), 600000+m.IntN(3), flags, m.payload())
}

func (m *maker) schedule() string {
	m.jobs++
	return fmt.Sprintf("schedule $id%d %s 600000 3600000 2040-01-02T15:04:05Z * <- later", m.jobs, m.name())
}

func (m *maker) lease() string {
	names := m.name()
	if other := m.name(); other != names && m.IntN(10) == 0 {
		names += " " + other
	}
	return "lease " + names + " 20"
}

func (m *maker) malformed() string {
	return []string{
		"nonsense", "delete", "inspect job", "result " + never, "lease 20", "add " + never + " " + m.name(),
		"add 1 " + m.name() + " 1000 60000 * <- x", "add " + never + " " + m.name() + " 86400001 60000 * <- x",
		"add " + never + " " + m.name() + " 1000 60000 * -priority=2147483648 <- x",
		"add " + never + " " + m.name() + " 1000 60000 * -max-attempts=256 <- x",
		"schedule " + never + " " + m.name() + " 1000 60000 tomorrow * <- x",
	}[m.IntN(11)]
}

// Leftover names the jobs that may still be on the server.
func (l *workqLaw) Leftover() (all []string) {
	for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
		if l.known(id) {
			all = append(all, "job "+id)
		}
	}
	return all
}

// known reports whether a job may be there.
func (l *workqLaw) known(id string) bool {
	gone := func(c config) bool { return c.state == deleted || c.state == absent }
	return l.jobs[id] != nil && !l.jobs[id].all(gone)
}

// Cleanup deletes the jobs.
func (l *workqLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		b := explore.Builder{Dialect: workqdialect.Dialect{}}
		if len(l.Leftover()) == 0 || !play(b.Open(explore.Cleaner, scenarios.Producer, "")) {
			return
		}
		for _, id := range slices.Sorted(maps.Keys(l.jobs)) {
			if !l.known(id) {
				continue
			}
			if !play(b.Line(explore.Cleaner, "%s %s", workq.Delete, id)) || l.conns[explore.Cleaner] == nil {
				return
			}
			l.jobs[id].configs = []config{{state: deleted}}
		}
		play(explore.End(explore.Cleaner, scenarios.Closed))
	}
}
