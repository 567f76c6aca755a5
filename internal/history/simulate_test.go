package history

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// simulation is a server and some workers in virtual time, whose steps are drawn from
// a seed. Without a bug the server is right, and takes every freedom that it has.
type simulation struct {
	*rand.Rand
	history History
	jobs    map[string]*simulatedJob
	workers []*simulatedWorker
	unused  []string // jids that are still to be pushed
	bug     string
	planted bool // the bug has shown

	generous, counting bool // how the server reads ACK and FAIL of others, and reservations
}

type simulatedJob struct {
	retries, fails int64
	reserve        time.Duration
	place          string // queue, retries, held, gone
	worker         int
	dueAt          time.Duration // when it is in its queue, or when its reservation is found to be over
	queue          string
	twin           bool // it is delivered once more
}

type simulatedWorker struct {
	client int           // its connection
	name   int           // of its wid
	next   time.Duration // of the call, or of its effect
	called int           // the event that is under way, -1 if there is none
	holds  []string
}

func (s *simulation) seconds(from, to int) time.Duration {
	return time.Duration(from*10+s.IntN((to-from)*10+1)) * time.Second / 10
}

func (s *simulation) chance(percent int) bool { return s.IntN(100) < percent }

// simulatedBugs are those that are planted, each with the breaches that the judge may
// then name.
var simulatedBugs = map[string][]Breach{
	"delivered twice":      {Duplicated, ReservationCut, Returned, RetriedNever, RetriedDiscarded, RetriedTooOften},
	"push lost":            {Lost, ScheduledLost, Absent, ScheduledAbsent},
	"retry lost":           {NotRetried, NotReturned},
	"expired lost":         {NotReturned, NotRetried},
	"ack ignored":          {Returned, Duplicated, ReservationCut},
	"at ignored":           {Early, Duplicated, Returned},
	"refused and enqueued": {RefusedButDelivered},
	"retry not counted":    {RetriedNever, RetriedDiscarded, RetriedTooOften, Duplicated, ReservationCut, Returned},
	"reservation halved":   {ReservationCut, Duplicated, Returned, RetriedNever, RetriedDiscarded, RetriedTooOften},
	"no back-off":          {RetriedAtOnce, RetriedNever, RetriedDiscarded, RetriedTooOften},
	"flush ignored":        {Flushed},
	"invented":             {NeverPushed, BeforePush},
	"empty":                {Absent, ScheduledAbsent, Lost, ScheduledLost, NotReturned, NotRetried},
}

// simulate makes a history of about the given number of calls.
func simulate(seed uint64, calls int, bug string) (h History, planted bool) {
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 1)), jobs: map[string]*simulatedJob{}, bug: bug}
	s.generous, s.counting = s.chance(50), s.chance(50)
	s.history.Limits = Limits{MaxLead: s.seconds(0, 1), MaxDelay: 10 * time.Second, Patience: 100 * time.Second}
	if s.chance(30) || bug == "no back-off" {
		s.history.Limits.Backoff = 5 * time.Second
	}
	for i := range 1 + s.IntN(3) {
		s.unused = append(s.unused, fmt.Sprintf("job-%d", i))
	}
	for n := range 2 + s.IntN(3) {
		s.workers = append(s.workers, &simulatedWorker{client: n, name: n, called: -1, next: s.seconds(1, 10)})
	}
	for called := 0; called < calls || s.busy(); {
		w := slices.MinFunc(s.workers, func(a, b *simulatedWorker) int { return cmp.Compare(a.next, b.next) })
		n := slices.Index(s.workers, w)
		switch {
		case w.called >= 0:
			s.reply(n)
		case called < calls:
			s.call(n)
			called++
		default:
			w.next = endOfTime
		}
	}
	if s.chance(70) {
		s.drain()
	}
	slices.SortStableFunc(s.history.Events, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	return s.history, s.planted
}

func (s *simulation) busy() bool {
	return slices.ContainsFunc(s.workers, func(w *simulatedWorker) bool { return w.called >= 0 })
}

// plant reports whether the bug shows here.
func (s *simulation) plant(bug string) bool {
	if s.bug != bug || s.chance(30) {
		return false
	}
	s.planted = true
	return true
}

// call begins a call of worker n. Its effect comes later.
func (s *simulation) call(n int) {
	w := s.workers[n]
	e := Event{Client: w.client, Worker: fmt.Sprintf("w%d", w.name), Return: -1}
	switch {
	case len(s.unused) > 0 && s.chance(60):
		s.push(&e)
	case len(w.holds) > 0 && s.chance(60):
		e.Op, e.JID = Ack, w.holds[s.IntN(len(w.holds))]
		if s.chance(45) {
			e.Op = Fail
		}
	case s.chance(8):
		e.Op, e.JID = []Op{Ack, Fail}[s.IntN(2)], fmt.Sprintf("job-%d", s.IntN(3))
	case s.chance(4) || s.bug == "flush ignored" && s.chance(20):
		e.Op = Flush
	default:
		e.Op, e.Queues = Fetch, []string{"a", "b"}[:1+s.IntN(2)]
	}
	e.Call = w.next
	w.next += s.seconds(0, 8)
	w.called = len(s.history.Events)
	s.history.Events = append(s.history.Events, e)
}

func (s *simulation) push(e *Event) {
	e.Op, e.Queue, e.JID = Push, []string{"a", "a", "b"}[s.IntN(3)], s.unused[0]
	reserve := int64(60)
	e.ReserveFor = &reserve
	if retry := int64(s.IntN(4) - 1); s.chance(85) {
		e.Retry = &retry
	}
	if s.chance(25) || s.bug == "at ignored" {
		e.At = s.workers[0].next + s.seconds(1, 60)
	}
	s.unused = s.unused[1:]
	if s.chance(3) {
		s.unused = append(s.unused, e.JID)
	}
}

// reply lets the call of worker n have its effect, and brings its reply unless that is
// lost.
func (s *simulation) reply(n int) {
	w := s.workers[n]
	e := &s.history.Events[w.called]
	now := w.next
	isLost := s.chance(7)
	if !isLost || s.chance(50) {
		e.Outcome = s.effect(e, w.name, now)
	}
	w.called = -1
	w.next = now + s.seconds(0, 8)
	e.Return = w.next
	switch {
	case isLost:
		*e = e.withoutReply()
		s.comeBack(w)
	case e.Op == Fetch && e.Outcome == OK:
		w.holds = append(w.holds, e.JID)
	case e.Op == Ack || e.Op == Fail:
		w.holds = slices.DeleteFunc(w.holds, func(jid string) bool { return jid == e.JID })
	}
	w.next += s.seconds(0, 5)
	if s.chance(15) {
		w.next += s.seconds(20, 90)
	}
}

// comeBack gives a worker that went away another connection, and mostly the wid that it
// had. With another it reports what it has in hand all the same.
func (s *simulation) comeBack(w *simulatedWorker) {
	w.client += 10
	if s.chance(30) {
		w.name = w.client
	}
}

// drain takes what is left until nothing comes any more.
func (s *simulation) drain() {
	s.history.Drained = true
	var now time.Duration
	for _, e := range s.history.Events {
		now = max(now, e.Call, e.Return)
	}
	for quiet := 0; quiet < 2; {
		now += 300 * time.Second
		quiet++
		for {
			fetch := Event{
				Client: 9, Worker: "drain", Op: Fetch, Queues: []string{"a", "b"}, Call: now, Return: now + time.Second,
			}
			fetch.Outcome = s.effect(&fetch, -1, now)
			s.history.Events = append(s.history.Events, fetch)
			now += 2 * time.Second
			if fetch.Outcome != OK {
				break
			}
			quiet = 0
			ack := Event{Client: 9, Worker: "drain", Op: Ack, JID: fetch.JID, Call: now, Return: now + time.Second}
			ack.Outcome = s.effect(&ack, -1, now)
			s.history.Events = append(s.history.Events, ack)
			now += 2 * time.Second
		}
		if len(s.history.Events) > 60 {
			return // a bug that delivers for ever
		}
	}
}
