package suite

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// unknownID is an id that is not added.
const unknownID = "$id900000"

// jobRef is a job that was added, in the words of steps.
type jobRef struct{ id, name string }

// maker makes up commands.
type maker struct {
	*explore.Draw
	law           *workqLaw
	build         explore.Builder
	jobs          []jobRef
	names         []string        // of jobs
	mayAdd        func() bool     // whether jobs are still added; nil: always
	hasShortTimes bool            // of most jobs the times end while the clients watch
	waitLimit     int             // commands at a time that may wait
	largestVerbs  map[string]bool // verbs that were sent with the largest block
	errands       []errand        // that are put off
	wayCount      int             // that were begun
	pace          int             // by which the times of ways are multiplied
	wayJobs       int             // jobs that ways have added
}

// move is a row of the table of moves: what is sent on a connection, and whether that may be.
type move struct {
	name   string
	weight float64
	fits   func(*maker) bool
	text   func(*maker) string
}

func alwaysFits(*maker) bool           { return true }
func (m *maker) canAdd() bool          { return m.mayAdd == nil || m.mayAdd() }
func (m *maker) hasJobs() bool         { return len(m.jobs) > 0 }
func (m *maker) hasReady() bool        { return len(m.jobsIn(ready)) > 0 }
func (m *maker) hasLeased() bool       { return len(m.jobsIn(leased)) > 0 }
func (m *maker) hasEnded() bool        { return len(m.jobsIn(completed))+len(m.jobsIn(failed)) > 0 }
func (m *maker) hasSeveralNames() bool { return !m.Compared && len(m.readyNames()) > 1 }

// mayWait reports whether one more command may wait.
func (m *maker) mayWait() bool {
	return m.hasJobs() && !m.Compared && len(m.law.pendingCalls) < m.waitLimit
}

// moves are those of all explorations. What is added is leased, reported and inspected in any order.
var moves = []move{
	{"add", 3, (*maker).canAdd, func(m *maker) string { return m.put(workq.Add) }},
	{"schedule", 0.6, (*maker).canAdd, func(m *maker) string { return m.put(workq.Schedule) }},
	{"run", 0.5, func(m *maker) bool { return m.canAdd() && m.mayWait() }, (*maker).run},
	{"add again", 0.3, (*maker).hasJobs, (*maker).addAgain},
	{"lease", 4, (*maker).hasReady, func(m *maker) string { return "lease " + m.jobIn(ready).name + " 20" }},
	{"lease in vain", 0.4, alwaysFits, func(m *maker) string {
		return "lease " + m.name() + " " +
			pick(m, "0", "1", "20")
	}},
	{"lease of several names", 3, (*maker).hasSeveralNames,
		func(m *maker) string { return "lease " + m.shuffledNames() + " 20" }},
	{"lease that waits", 0.6, (*maker).mayWait, func(m *maker) string { return "lease " + m.busyNames() + m.wait() }},
	{"complete", 1.5, (*maker).hasLeased, func(m *maker) string {
		return "complete " + m.jobIn(leased).id + m.block(workq.Complete)
	}},
	{"fail", 1.5, (*maker).hasLeased, func(m *maker) string { return "fail " + m.jobIn(leased).id + m.block(workq.Fail) }},
	{"report of any job", 0.3, alwaysFits, func(m *maker) string {
		return pick(m, "complete ", "fail ") + m.id() + m.block("")
	}},
	{"result", 1, (*maker).hasEnded, func(m *maker) string { return "result " + m.jobIn(completed, failed).id + " 0" }},
	{"result of any job", 0.5, alwaysFits, func(m *maker) string { return "result " + m.id() + " " + pick(m, "0", "20") }},
	{"result that waits", 0.5, func(m *maker) bool {
		return m.mayWait() && (m.hasLeased() || m.hasReady())
	}, func(m *maker) string {
		return "result " + m.jobIn(leased, ready).id + m.wait()
	}},
	{"delete", 0.4, alwaysFits, func(m *maker) string { return "delete " + m.id() }},
	{"inspect job", 2, alwaysFits, func(m *maker) string { return "inspect job " + m.id() }},
	{"inspect queue", 0.7, alwaysFits, func(m *maker) string { return "inspect queue " + m.name() }},
	{"inspect jobs", 0.7, alwaysFits, func(m *maker) string { return "inspect jobs " + m.name() + m.page() }},
	{"inspect scheduled-jobs", 0.4, alwaysFits, func(m *maker) string {
		return "inspect scheduled-jobs " + m.name() + m.page()
	}},
	{"inspect queues", 0.3, alwaysFits, func(m *maker) string { return "inspect queues" + m.page() }},
	{"inspect server", 0.1, alwaysFits, func(*maker) string { return "inspect server" }},
	{"malformed", 3, alwaysFits, func(m *maker) string {
		return malformedCommands()[m.Deal("malformed",
			len(malformedCommands()))]
	}},
}

// alphabet returns an alphabet of moves.
func (m *maker) alphabet(rows []move) explore.Generator {
	a := explore.Generator{Open: func(conn int) explore.Step { return m.build.Open(conn, scenarios.Producer, "") }}
	for _, row := range rows {
		a.Moves = append(a.Moves, explore.Move{
			Name: row.name, Weight: row.weight, Fits: func(int) bool { return row.fits(m) },
			Make: func(conn int) []explore.Step { return []explore.Step{m.step(conn, row.text(m))} },
		})
	}
	return a
}

// maxWaiting is how many commands may wait at a time, but for lives.
const maxWaiting = 4

func newMaker(d *explore.Draw, l explore.Law) *maker {
	return &maker{
		Draw: d, law: l.(*workqLaw), largestVerbs: map[string]bool{}, //nolint:forcetypeassert // the subject's own
		build: explore.Builder{Dialect: workqscript.Dialect{}}, waitLimit: maxWaiting,
	}
}

// alphabet returns all steps for some rounds, then those of lives with short times and with longer ones, and then all
// again.
func alphabet(d *explore.Draw, l explore.Law) explore.Generator {
	const first = 500 // rounds
	m := newMaker(d, l)
	all := m.values()
	begin := all
	begin.Done = func() bool { return m.Round > first && !m.Compared }
	begin.Next = func() explore.Generator {
		short := m.lives(1, livesEnd)
		short.Next = func() explore.Generator {
			long := m.lives(longPace, longLivesEnd)
			long.Next = func() explore.Generator {
				m.hasShortTimes, m.mayAdd, m.waitLimit = false, nil, maxWaiting
				return all
			}
			return long
		}
		return short
	}
	return begin
}

// step returns the step that sends a command. The reply to one that may wait is not awaited, and some are cut. A block
// with bytes that no line of a script has is sent with its size counted.
func (m *maker) step(conn int, text string) explore.Step {
	verb, _, _ := strings.Cut(text, " ")
	long := strings.HasSuffix(text, waitSuffix) || verb == workq.Run
	text = strings.TrimSuffix(text, waitSuffix)
	head, block, hasBlock := strings.Cut(text+"\r", blockSign)
	cut := m.IntN(60) == 0 && !strings.Contains(block, "$")
	step := m.build.Line(conn, "%s", text)
	switch block = strings.TrimPrefix(strings.TrimSuffix(block, "\r"), " "); {
	case hasBlock && (cut || !isPlain(block)) && !long: // the answer to bytes is awaited
		step = m.build.Bytes(conn, m.cut(withSize(head, block), cut)...)
	case cut && !hasBlock:
		step = m.build.Line(conn, "%s", strings.Join(m.cut(text, cut), scenarios.Cut))
	}
	step.Ahead = long
	return step
}

// blockSign stands in front of a block.
const blockSign = " <-"

// isPlain reports whether a block can stand in a line of a script.
func isPlain(block string) bool {
	unprintable := func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }
	return strings.TrimSpace(block) == block && !strings.ContainsFunc(block, unprintable)
}

// withSize is a command as it is sent, with its block.
func withSize(head, block string) string {
	size := fmt.Sprintf(" %d", len(block)-strings.Count(block, "$$"))
	return strings.Replace(head, " *", size, 1) + "\r\n" + block + "\r\n"
}

// cut returns a text in two pieces, or in one.
func (m *maker) cut(text string, cut bool) []string {
	t := m.build.Tokenize(text)
	if !cut || len(t) < 2 {
		return []string{text}
	}
	at := 1 + m.IntN(len(t)-1)
	return []string{t[:at].String(), t[at:].String()}
}

// pick returns one of some words.
func pick(m *maker, words ...string) string { return words[m.IntN(len(words))] }

// jobsIn returns those of the last jobs that may be in one of some states.
func (m *maker) jobsIn(states ...state) (all []jobRef) {
	const recent = 40
	for _, b := range m.jobs[max(0, len(m.jobs)-recent):] {
		j := m.law.jobs[m.Fill(b.id)]
		if j != nil && slices.ContainsFunc(states, j.mayBe) {
			all = append(all, b)
		}
	}
	return all
}

// jobIn is one of them.
func (m *maker) jobIn(states ...state) jobRef {
	all := m.jobsIn(states...)
	if len(all) == 0 {
		return jobRef{unknownID, m.name()}
	}
	return all[m.IntN(len(all))]
}

// id is one of those that were added, mostly of the last ones, or one that was not.
func (m *maker) id() string {
	if !m.hasJobs() || m.IntN(12) == 0 {
		return unknownID
	}
	const recent = 20
	return m.jobs[len(m.jobs)-1-m.IntN(min(len(m.jobs), recent))].id
}

// readyNames are the names of which a job may be leased.
func (m *maker) readyNames() (all []string) {
	for _, b := range m.jobsIn(ready) {
		all = append(all, b.name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// shuffledNames are names of which jobs may be leased, in any order.
func (m *maker) shuffledNames() string {
	const limit = 12
	all := m.readyNames()
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all[:min(len(all), 2+m.IntN(3)*m.IntN(3), limit)], " ")
}

// busyNames is a name of a job that a worker has, with up to nine that have none, in any order; or any name.
func (m *maker) busyNames() string {
	names := []string{m.jobIn(leased, scheduled).name}
	for range m.IntN(4) * m.IntN(4) {
		names = append(names, fmt.Sprintf("$name%d", 800000+m.IntN(1000)))
	}
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return strings.Join(slices.Compact(names), " ")
}

// page is a part of a list.
func (m *maker) page() string {
	return " " + pick(m, "0", "0", "1", "2", "3", "100") + " " + pick(m, "100", "100", "1", "2", "3")
}

// addAgain is a second command with the id of a job. What its flags say has no effect.
func (m *maker) addAgain() string {
	b := m.jobs[len(m.jobs)-1-m.IntN(min(len(m.jobs), 12))]
	name := b.name
	if j := m.law.jobs[m.Fill(b.id)]; j != nil && j.isAlways(possibleState.exists) && !j.mayBe(unknown) {
		name = pick(m, b.name, m.name()) // the job stays what it is
	}
	if m.IntN(3) == 0 {
		return fmt.Sprintf("schedule %s %s 600000 3600000 2040-01-02T15:04:05Z *%s <- again", b.id, name,
			m.flags(workq.Schedule))
	}
	return fmt.Sprintf("add %s %s 600000 3600000 *%s <- again", b.id, name, m.flags(workq.Add))
}

// put adds or schedules a job.
func (m *maker) put(verb string) string {
	name := m.name()
	if m.IntN(3) == 0 || len(m.names) < 3 {
		name = m.newName()
	}
	b := m.newJob(name)
	text := fmt.Sprintf("%s %s %s %s %s ", verb, b.id, b.name, m.ttr(), m.ttl())
	if verb == workq.Schedule {
		text += m.dueTime() + " "
	}
	return text + "*" + m.flags(verb) + strings.TrimPrefix(m.block(verb), " *")
}

// run adds a job whose client waits, mostly under a name of its own.
func (m *maker) run() string {
	name := m.name()
	if m.IntN(3) > 0 || len(m.names) == 0 {
		name = m.newName()
	}
	b := m.newJob(name)
	return fmt.Sprintf("run %s %s %s%s *%s%s", b.id, b.name, m.ttr(), strings.TrimSuffix(m.wait(), waitSuffix),
		m.flags(workq.Run), strings.TrimPrefix(m.sizedBlock(workq.Run), " *"))
}

// newJob books a new job.
func (m *maker) newJob(name string) jobRef {
	b := jobRef{fmt.Sprintf("$id%d", len(m.jobs)+1), name}
	m.jobs = append(m.jobs, b)
	return b
}
