package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// Turns returns Workq as [Alphabet] does, with nothing but leases of three names that all have a job. Each is a command
// of three: the job is deleted, and another one of its name added. Some hundred leases show a habit, whatever the seed
// is.
func Turns() *explore.Alphabet {
	s := Alphabet()
	s.Generate = func(d *explore.Draw, l explore.Law) explore.Generator { return newMaker(d, l).turns() }
	return s
}

// turns returns the alphabet of [Turns].
func (m *maker) turns() explore.Generator {
	names := []string{m.newName(), m.newName(), m.newName()}
	quota := append([]string{names[0], names[0], names[0]}, names...) // a name of many jobs has no more turns
	missing := func() string {
		rest := slices.Clone(quota)
		for _, b := range m.jobsIn(ready) {
			if i := slices.Index(rest, b.name); i >= 0 {
				rest = slices.Delete(rest, i, i+1)
			}
		}
		return strings.Join(rest[:min(1, len(rest))], "")
	}
	lineMove := func(name string, fits func() bool, text func() string) explore.Move { // its line is sent at once
		return explore.Move{
			Name: name, Weight: 1, Fits: func(int) bool { return fits() },
			Make: func(conn int) []explore.Step { return []explore.Step{m.build.Line(conn, "%s", text())} },
		}
	}
	a := m.alphabet(nil)
	a.IsComplete = true
	a.Moves = []explore.Move{
		lineMove("add", func() bool { return missing() != "" }, func() string {
			b := m.newJob(missing())
			return fmt.Sprintf("add %s %s 600000 3600000 * <- x", b.id, b.name)
		}),
		lineMove("delete", m.hasLeased, func() string { return "delete " + m.jobIn(leased).id }),
		lineMove("lease in turn", func() bool { return missing() == "" && !m.hasLeased() }, func() string {
			m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			return "lease " + strings.Join(names, " ") + " 1000"
		}),
	}
	return a
}
