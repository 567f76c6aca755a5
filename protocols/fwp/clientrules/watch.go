package clientrules

import (
	"cmp"
	"slices"
	"time"
)

// maxExamples bounds the breaches that a Watch keeps of a rule; it counts the others.
const maxExamples = 3

// Breach is one finding of a rule.
type Breach struct {
	Name     string        // that of the rule, Rule.Breach
	At       time.Duration // when it was found
	Conn     int           // 0 if it is about none
	Process  int           // 0 if it is about none, or not known
	Worker   string        // the wid, "" if it is about none
	Text     string        // what was wrong: one sentence without its full stop
	Evidence []Moment      // the events that show it, in order
}

// Result is what a Watch knows of a rule.
type Result struct {
	Rule      Rule
	Missing   Need     // what the rule needs and the Config lacks: it was not run
	Occasions int      // how often its situation was seen
	Breaches  int      // how many there were
	Examples  []Breach // the first few
}

// State is what a Result says about its rule.
type State uint8

// The states. The zero State is not green.
const (
	StateInconclusive State = iota // its situation was never seen, or it was not run
	StateHeld
	StateBroken
)

// State returns what the result says about the rule.
func (r Result) State() State {
	switch {
	case r.Breaches > 0:
		return StateBroken
	case r.Occasions > 0:
		return StateHeld
	}
	return StateInconclusive
}

// Watch runs the rules over a stream of events. Its memory is bounded for each open connection, each worker and each
// job that a worker holds. It starts no goroutines and reads no clock, and is not safe for concurrent use.
//
//	w := NewWatch(Config{})
//	b := NewBuilder(func(e Event) { report(w.See(e)) })
//	b.Open(at, 1, 0)
//	b.Server(at, 1, []byte("+HI {\"v\":2}\r\n"))
//	b.Client(at, 1, []byte("HELLO {\"v\":2}\r\n"))
//	...
//	w.End(at)
//	for _, r := range w.Results() { ... r.State() ... }
//
// A rule that was broken has breaches with the events that show them; one whose situation was never seen is
// inconclusive.
type Watch struct {
	world      *world
	results    []Result
	byOccasion map[occasion][]int // indexes of results
	breaches   []Breach           // by the event that is being judged
	next       time.Duration      // when the workers are looked at next
}

// NewWatch returns a Watch that has seen nothing.
func NewWatch(cfg Config) *Watch {
	cfg.Grace, cfg.Slack = cmp.Or(cfg.Grace, 500*time.Millisecond), cmp.Or(cfg.Slack, time.Second)
	w := &Watch{world: newWorld(cfg), byOccasion: map[occasion][]int{}}
	supply := cfg.supply()
	rules := Rules()
	if cfg.JudgesServer {
		rules = append(rules, ServerRules()...)
	}
	for _, rule := range rules {
		if cfg.Breaches != nil && !slices.Contains(cfg.Breaches, rule.Breach) {
			continue
		}
		w.results = append(w.results, Result{Rule: rule, Missing: rule.Needs &^ supply})
		if rule.Needs&^supply != 0 {
			continue
		}
		for _, o := range rule.occasions.list() {
			w.byOccasion[o] = append(w.byOccasion[o], len(w.results)-1)
		}
	}
	return w
}

// See takes the next event and returns the breaches that it shows. The slice is valid until the next call. An event of
// an earlier time than the last counts as of that time.
func (w *Watch) See(e Event) []Breach {
	w.breaches = w.breaches[:0]
	e.At = max(e.At, w.world.now)
	if e.Kind == Lag { // it may be why something has been missing until now
		w.judge(e)
	}
	w.tick(e.At)
	if e.Kind != Lag {
		w.judge(e)
	}
	return w.breaches
}

// End takes the end of the stream: what is due by then is judged, and workers without a connection have left.
func (w *Watch) End(at time.Duration) []Breach {
	w.breaches = w.breaches[:0]
	at = max(at, w.world.now)
	w.tick(at)
	w.world.now = at
	for _, k := range w.world.sortedWorkers() {
		if len(k.conns) == 0 {
			w.leave(k)
		}
	}
	return w.breaches
}

// tick looks at the workers once for each second up to a time, at most once if many have passed.
func (w *Watch) tick(at time.Duration) {
	if at < w.next {
		return
	}
	w.next = at - at%time.Second + time.Second
	w.world.now = at
	for _, k := range w.world.sortedWorkers() {
		w.judge(Event{At: at, Kind: workerSecond, Process: k.process, worker: k})
		if w.world.hasLeft(k) {
			w.leave(k)
		}
	}
}

func (w *Watch) leave(k *workerState) {
	w.judge(Event{At: w.world.now, Kind: workerDeparture, Process: k.process, worker: k})
	w.world.forget(k)
}

// judge has the rules look at an event, with the world as it was before, and then changes the world.
func (w *Watch) judge(e Event) {
	w.world.now = e.At
	l := w.world.observe(&e)
	w.runRules(occasion{kind: e.Kind}, l)
	if verb := l.verb(); verb != "" {
		w.runRules(occasion{e.Kind, verb}, l)
	}
	w.world.apply(l)
	if e.Kind == ConnClose || e.Kind == ProcessExit {
		if k := l.worker; k != nil && w.world.hasLeft(k) {
			w.leave(k)
		}
	}
}

func (w *Watch) runRules(o occasion, l *observation) {
	for _, i := range w.byOccasion[o] {
		r := &w.results[i]
		j := r.Rule.check(l)
		if j.text == "" && l.hasMistakes() && r.Rule.Breach != LineEnd {
			continue // what was kept is not what the client has sent
		}
		if j.isReached {
			r.Occasions++
		}
		if j.text == "" {
			continue
		}
		r.Breaches++
		b := l.breach(cmp.Or(j.name, r.Rule.Breach), j)
		w.breaches = append(w.breaches, b)
		if len(r.Examples) < maxExamples {
			r.Examples = append(r.Examples, b)
		}
	}
}

// Results returns what is known of each rule, in the order of Rules. The caller may keep it, but not change what it
// points to.
func (w *Watch) Results() []Result { return slices.Clone(w.results) }

// String returns "held", "broken" or "inconclusive".
func (s State) String() string {
	switch s {
	case StateHeld:
		return "held"
	case StateBroken:
		return "broken"
	}
	return "inconclusive"
}
