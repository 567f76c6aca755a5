package agents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// Limits of a run by agents.
const (
	joinLimit  = time.Minute      // until all have joined
	readyLimit = 10 * time.Minute // from the plan until all are ready, beside Config.Connecting
	stopLimit  = 20 * time.Second // from a stop until the last report: more than an interrupted load takes
	headStart  = time.Second      // from the last ready until the load begins
)

// roster is the state of a run: who takes part, and how far each is. It is a machine of calls and times, since the
// coordinator's start; it sends nothing. It is not safe for concurrent use.
type roster struct {
	plan       Plan
	version    string
	within     time.Duration // to join
	connecting time.Duration // that opening the connections takes, at the rate of the plan

	phase   phase
	since   time.Duration // of the phase
	members []*member
	start   time.Duration
	why     string // why the run was stopped
	failed  string // why it did not begin
	most    int    // heartbeats that an agent may miss
}

// member is an agent of the run.
type member struct {
	name   string
	missed int // heartbeats since it last said something
	ready  bool
	pushed bool // its last job
	clock  *results.AgentClock

	report *results.Load // of the agent, when it is complete
	sent   parcel        // the report, until then
	jobs   parcel        // its account of the jobs, where these cross
	lost   string        // why it was given up

	// What its ticks have brought, for a report that does not come.
	total    measure.Set
	latest   second
	measured time.Duration
	achieved float64 // arrivals, while it measured
}

// parcel is what comes in pieces.
type parcel struct {
	data     []byte
	received int
	whole    bool
}

// take takes a piece, and reports whether the parcel is whole for the first time. A piece that comes again, because its
// confirmation was lost, changes nothing.
func (p *parcel) take(piece, pieces int, data []byte) bool {
	if piece != p.received || p.whole {
		return false
	}
	p.data = append(p.data, data...)
	p.received++
	p.whole = p.received == pieces
	return p.whole
}

// find returns the member of that name, nil if there is none.
func (r *roster) find(name string) *member {
	if i := slices.IndexFunc(r.members, func(m *member) bool { return m.name == name }); i >= 0 {
		return r.members[i]
	}
	return nil
}

// join adds an agent, or returns why it is refused.
func (r *roster) join(j joining) (refused string) {
	switch {
	case j.Version != r.version:
		return fmt.Sprintf("its version is %q, and that of the coordinator is %q: use the same", j.Version, r.version)
	case r.find(j.Name) != nil:
		return "there is an agent with this name: give it another --name"
	case r.phase != gathering:
		return fmt.Sprintf("the run has its %s already: start another one", text.Count(r.plan.Agents, "agent"))
	}
	r.members = append(r.members, &member{name: j.Name})
	return ""
}

// beat counts a heartbeat of the coordinator, in which each agent should have said something. late is by how much its
// machine was late in the latest ones.
func (r *roster) beat(late time.Duration) {
	r.most = silence(late)
	for _, m := range r.members {
		m.missed++
	}
}

// heard books a tick. What is of no member, or of one that was given up, is nothing.
func (r *roster) heard(t tick) {
	m := r.find(t.Name)
	if m == nil || m.lost != "" {
		return
	}
	m.missed, m.ready, m.pushed = 0, m.ready || t.Ready, m.pushed || t.Pushed
	if t.Clock != nil {
		m.clock = t.Clock
	}
}

// reported books the report of the agent in that place. One that was interrupted, while no one else was, is lost.
func (r *roster) reported(place int, l *results.Load) {
	m := r.members[place]
	m.report = l
	if l.Interrupted && r.phase != stopping {
		m.lost = "it was interrupted"
	}
}

// stop ends the loads of all agents.
func (r *roster) stop(now time.Duration, why string) {
	if r.phase == stopping || r.phase == over {
		return
	}
	if r.phase == gathering {
		r.failed, r.members = why, nil
		r.enter(now, over)
		return
	}
	r.why = why
	r.enter(now, stopping)
}

func (r *roster) enter(now time.Duration, p phase) { r.phase, r.since = p, now }

// advance goes to the next phase if the time or the members say so.
func (r *roster) advance(now time.Duration) {
	switch r.phase {
	case gathering:
		r.gather(now)
	case connecting:
		r.await(now)
	case running, stopping:
		r.follow(now)
	case over:
	}
}

// gather goes on when all agents are there. One that fell silent makes room for another.
func (r *roster) gather(now time.Duration) {
	r.members = slices.DeleteFunc(r.members, func(m *member) bool { return m.missed > r.most })
	switch {
	case len(r.members) == r.plan.Agents:
		r.enter(now, connecting)
	case now > r.within:
		who := "none"
		if len(r.members) > 0 {
			who = r.named(func(*member) bool { return true })
		}
		r.stop(now, fmt.Sprintf("%d of %s joined within %v: %s", len(r.members), text.Count(r.plan.Agents, "agent"), r.within,
			who))
	}
}

// await goes on when all agents are ready.
func (r *roster) await(now time.Duration) {
	if r.follow(now); r.phase != connecting {
		return
	}
	waiting := func(m *member) bool { return !m.ready }
	switch {
	case !slices.ContainsFunc(r.members, waiting):
		r.start = now + headStart
		r.enter(now, running)
	case now > r.since+r.connecting+readyLimit:
		r.stop(now, "not ready in time: "+r.named(waiting))
	}
}

// follow gives silent agents up, stops all if one is lost or has reported before the load began, and ends with the last
// report.
func (r *roster) follow(now time.Duration) {
	late := r.phase == stopping && now > r.since+stopLimit
	for _, m := range r.members {
		switch {
		case m.report != nil || m.lost != "":
		case m.missed > r.most:
			m.lost = "three of its ticks are missing"
		case late:
			m.lost = fmt.Sprintf("it sent no report within %v", stopLimit)
		}
	}
	working := func(m *member) bool { return m.report == nil && m.lost == "" }
	early := func(m *member) bool { return m.report != nil && r.phase == connecting }
	lost := func(m *member) bool { return m.lost != "" }
	switch {
	case !slices.ContainsFunc(r.members, working):
		r.enter(now, over)
	case slices.ContainsFunc(r.members, lost):
		r.stop(now, "lost: "+r.named(lost))
	case slices.ContainsFunc(r.members, early):
		r.stop(now, "ended before the load began: "+r.named(early))
	}
}

// pushed reports whether no agent pushes any more.
func (r *roster) pushed() bool {
	pushing := func(m *member) bool { return !m.pushed && m.report == nil && m.lost == "" }
	return (r.phase == running || r.phase == stopping) && !slices.ContainsFunc(r.members, pushing)
}

// named returns the names of the members of a kind.
func (r *roster) named(kind func(*member) bool) string {
	var names []string
	for _, m := range r.members {
		if kind(m) {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, ", ")
}

// state returns what the agents have to know.
func (r *roster) state() state {
	s := state{Phase: r.phase, Start: r.start, Pushed: r.pushed(), Why: r.why + r.failed}
	if r.phase == connecting || r.phase == running || r.phase == stopping {
		s.Plan = &r.plan
		for _, m := range r.members {
			s.Names = append(s.Names, m.name)
		}
	}
	return s
}
