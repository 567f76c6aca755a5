package agents

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// keepOpen is how long after its end a second still takes in what agents say of it.
const keepOpen = 2 * heartbeat

// timeline adds up the seconds of all agents. Those that began in the same second of the coordinator are one; what is
// late counts in the first second that is still open. So nothing is lost that a tick has brought.
type timeline struct {
	run   string
	began time.Time // of the coordinator, time 0
	watch func(load.Moment)

	open   map[int64]*sum
	next   int64 // the first second that is open
	errors int64
	jobs   map[string]results.LoadJobs // the latest of each agent
	series []results.Second
	heat   results.LoadHeat
}

// sum is a second of all agents.
type sum struct {
	second   results.Second
	op       measure.Op
	set      measure.Set
	achieved float64 // arrivals
	target   float64
}

// newTimeline returns an empty timeline. watch may be nil.
func newTimeline(run string, began time.Time, watch func(load.Moment)) *timeline {
	if watch == nil {
		watch = func(load.Moment) {}
	}
	return &timeline{
		run: run, began: began, watch: watch, open: map[int64]*sum{}, jobs: map[string]results.LoadJobs{},
	}
}

// add adds a second of an agent, and returns what was recorded in it.
func (t *timeline) add(agent string, s *second) (*measure.Set, error) {
	set, err := measure.NewLogReader(agent, strings.NewReader(s.Log)).Next()
	if err != nil {
		return nil, err
	}
	set.From, set.Until = s.From, s.From+s.Over
	at := max(t.next, int64(s.From/time.Second))
	to := t.open[at]
	if to == nil {
		to = &sum{second: results.Second{At: time.Duration(at) * time.Second, Over: time.Second}}
		t.open[at] = to
	}
	to.set.Add(set)
	to.addRate(s)
	to.second.Phase = s.Phase
	results.Join(&to.second, &s.Second)
	t.jobs[agent] = s.Jobs
	for _, op := range set.Ops() {
		t.errors += set.Failed(op)
	}
	return set, nil
}

// addRate adds the rates of a second. Where some agents have all producers, those of the others are not the load's.
func (to *sum) addRate(s *second) {
	op := measure.Op(s.Op)
	switch {
	case to.op == measure.Ack && op != measure.Ack:
		to.achieved, to.target = 0, 0
	case to.op != "" && op == measure.Ack && to.op != op:
		return
	}
	seconds := s.Over.Seconds()
	to.op, to.achieved, to.target = op, to.achieved+s.Achieved*seconds, to.target+s.Target*seconds
}

// close ends the seconds that are over for long enough at the moment now, in their order.
func (t *timeline) close(now time.Duration) {
	for _, at := range slices.Sorted(maps.Keys(t.open)) {
		if time.Duration(at+1)*time.Second+keepOpen > now {
			return
		}
		s := t.open[at]
		delete(t.open, at)
		t.next = at + 1
		s.second.Achieved, s.second.Target = s.achieved, s.target // in a second
		s.second.Ops, s.second.Flows = load.SecondFigures(&s.set)
		t.series = append(t.series, s.second)
		load.AddHeat(&t.heat, &s.set, s.op)
		t.watch(load.Moment{
			Second: s.second, Op: string(s.op), Run: t.run, Began: t.began, Set: &s.set, Left: -1, Errors: t.errors,
			Jobs: t.account(),
		})
	}
}

// account adds up the accounts of all agents.
func (t *timeline) account() (all results.LoadJobs) {
	for _, one := range t.jobs {
		results.Join(&all, &one)
	}
	return all
}
