package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// Turns returns Workq as [New] does, with nothing but leases of three names that all have a job. Each is a command of
// three: the job is deleted, and another one of its name added. Some hundred leases show a habit, whatever the seed is.
func Turns() *explore.Subject {
	s := Subject()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet { return newMaker(d, l).turns() }
	return s
}

// turns returns the alphabet of [Turns].
func (m *maker) turns() explore.Alphabet {
	names := []string{m.freshName(), m.freshName(), m.freshName()}
	wanted := append([]string{names[0], names[0], names[0]}, names...) // a name of many jobs has no more turns
	missing := func() string {
		left := slices.Clone(wanted)
		for _, b := range m.in(ready) {
			if i := slices.Index(left, b.name); i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		return strings.Join(left[:min(1, len(left))], "")
	}
	whole := func(name string, fits func() bool, text func() string) explore.Move { // its line is sent at once
		return explore.Move{
			Name: name, Weight: 1, Fits: func(int) bool { return fits() },
			Make: func(conn int) []explore.Step { return []explore.Step{m.build.Line(conn, "%s", text())} },
		}
	}
	a := m.alphabet(nil)
	a.Whole = true
	a.Moves = []explore.Move{
		whole("add", func() bool { return missing() != "" }, func() string {
			b := m.job(missing())
			return fmt.Sprintf("add %s %s 600000 3600000 * <- x", b.id, b.name)
		}),
		whole("delete", m.holds, func() string { return "delete " + m.one(leased).id }),
		whole("lease in turn", func() bool { return missing() == "" && !m.holds() }, func() string {
			m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			return "lease " + strings.Join(names, " ") + " 1000"
		}),
	}
	return a
}
