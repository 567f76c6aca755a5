package moves

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// The words of a way: how a job comes to its queue if not at once, and how the work on it ends.
const (
	wayAt     = "at" // it is scheduled
	wayWoken  = "woken"
	wayAck    = "ack"
	wayFail   = "fail"
	wayExpire = "expire" // its worker keeps it until the reservation ends
)

// The ways of the jobs of [Lives], and of those of its short form, until they are delivered again. Each is dealt with
// all buckets of all fields.
var (
	ways = []string{
		wayAck, wayFail, wayExpire, wayAt + " " + wayAck, wayAt + " " + wayFail, wayAt + " " + wayExpire,
	}
	shortWays = []string{wayAck, wayFail, wayFail, wayAt + " " + wayFail}
)

// awaitedWays are those of jobs that come to a FETCH that waits.
var awaitedWays = []string{wayWoken + " " + wayFail, wayWoken + " " + wayExpire}

// plan is what becomes of a job.
type plan struct {
	way  string
	came int    // how often it had been delivered when end was chosen
	end  string // of the work on it
}

// has reports whether a word is one of a way.
func has(way, word string) bool { return slices.Contains(strings.Fields(way), word) }

// Lives returns FWP as [New] does, with jobs that are scheduled, that fail, and that are kept until their reservation
// ends: all of them are pushed first, wait together, come back with their values, and fail or are kept once more where
// there is time for that. Where the server may be restarted, it is, when all were pushed, and once more before the
// queues of what has ended are looked into.
//
// A limit shorter than [LivesLast] leaves less time for what comes back, and one below [LivesAtLeast] is for servers
// that enqueue a job again soon behind its failure: no job is kept, and it takes some seven seconds.
func Lives(limit time.Duration) *explore.Subject {
	if limit < LivesAtLeast {
		return livesOf(shortWays, shortSpans())
	}
	return livesOf(ways, longSpans().sooner(LivesLast-limit))
}

// The times that [Lives] can use, and those that it needs for jobs that are kept.
const (
	LivesLast    = 127 * time.Second
	LivesAtLeast = 95 * time.Second
)

// livesOf returns FWP with jobs that go some ways.
func livesOf(ways []string, times spans) *explore.Subject {
	return steady(func(g *maker) explore.Alphabet {
		begun := time.Now()
		g.elapsed = func() time.Duration { return time.Since(begun) }
		g.ways, g.plans, g.comes, g.times = ways, map[string]plan{}, mayCome, times
		g.retired = map[int]int{}
		g.births = func() bool {
			are := g.birthsTook == 0 && g.jobs < times.jobs && g.elapsed() < times.births
			if !are && g.birthsTook == 0 {
				g.birthsTook = g.elapsed()
			}
			return are
		}
		a := g.alphabet(slices.Concat(ofWaits, ofRestarts, ofLives))
		a.Open = func(conn int) explore.Step { return consumer(conn, g.number(conn)) }
		a.Done = g.livesEnded
		return a
	})
}

// number is that of the worker of a connection of [Lives]: each has two.
func (g *maker) number(conn int) int { return 1 + conn/2 + workersOfLives*g.retired[conn/2] }

// spans are how many jobs are pushed whose lives are followed, for how long, until when a job that came back may end in
// the ways that wait, and until when all is awaited whatever its end. At sweep a job whose report had no effect is
// enqueued again: its reservation has run out, and the server has noticed it.
type spans struct {
	jobs                                int
	births, kept, failed, sweep, awaits time.Duration
}

// brief reports whether no job is kept.
func (s spans) brief() bool { return s.jobs > 0 && s.kept == 0 }

func longSpans() spans {
	return spans{1600, 6 * time.Second, 25 * time.Second, 70 * time.Second, 104 * time.Second, 125 * time.Second}
}

// sooner returns spans that end earlier. All jobs are pushed and fetched in the same time, and fewer of those that are
// delivered again are failed or kept.
func (s spans) sooner(by time.Duration) spans {
	if by > 0 {
		s.kept, s.failed, s.awaits = max(s.kept-by, 1), s.failed-by, s.awaits-by
		s.sweep = max(s.sweep-by, s.births+shortest+16*time.Second)
	}
	return s
}

func shortSpans() spans {
	return spans{400, 2200 * time.Millisecond, 0, 4 * time.Second, 6 * time.Second, 6500 * time.Millisecond}
}

// ofWaits are the moves of what is pushed first, and comes back while all wait.
var ofWaits = []move{
	{"push", 14, func(g *maker, c int, w *fwplaw.Conn) bool { return g.births() && identified(g, c, w) },
		writes(func(g *maker, _ *fwplaw.Conn) string { return "PUSH " + g.job() })},
	{"look", 1, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.births() && active(g, c, w) && anyOf(g.underWay(), g.comes)
	}, writes((*maker).fetchSome)},
	{"rest", 0.02, func(g *maker, _ int, _ *fwplaw.Conn) bool { return !g.births() }, (*maker).rest},
}

// rest lets a moment pass in which nothing is to be done, and makes room for workers.
func (g *maker) rest(c int, w *fwplaw.Conn) []explore.Step {
	if !active(g, c, w) {
		return []explore.Step{g.ending(c)}
	}
	return []explore.Step{explore.Wait(10 * time.Millisecond)}
}

// ofLives are those of [Lives] beside them.
var ofLives = []move{
	{"fetch", 20, waiting, (*maker).fetch},
	{"wake", 1, func(g *maker, c int, w *fwplaw.Conn) bool { return g.births() && active(g, c, w) },
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
			return g.wakeAll(c, deal(g, wayWoken, awaitedWays))
		}},
	{"burst", 0.5, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.births() && !g.times.brief() && g.elapsed() < g.times.failed && !g.Dealt("many") && active(g, c, w)
	}, (*maker).manyBurst},
	{"heap", 0.5, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.births() && g.birthsTook < g.times.births && !g.times.brief() && g.elapsed() < g.times.failed &&
			!g.Dealt("heap") && active(g, c, w)
	}, (*maker).heap},
	{"report-again", 0.2, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.elapsed() < g.times.failed && active(g, c, w) && anyOf(maps.Values(g.law.world.Jobs), reported)
	}, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		jid := g.spelled(choose(g, g.reported()).JID)
		return []explore.Step{choose(g, []explore.Step{ack(c, jid), line(c, "FAIL %s", g.failure(jid))})}
	}},
	{"report", 40, func(g *maker, _ int, w *fwplaw.Conn) bool { return len(g.toReport(w)) > 0 },
		func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
			return []explore.Step{line(c, "%s", g.report(choose(g, g.toReport(w))))}
		}},
	{"sweep", 1000, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.swept && g.elapsed() >= g.times.sweep && c != idler && active(g, c, w)
	}, (*maker).sweep},
	{"idle", 1000, func(g *maker, c int, w *fwplaw.Conn) bool { return c == idler && active(g, c, w) },
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
			return []explore.Step{ahead(line(c, "FETCH %s", g.freshQueue()))}
		}},
	{"retire", 0.4, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.births() && c/2 != idler/2 && active(g, c, w) && len(g.toReport(w)) > 0
	}, (*maker).retire},
	{"leave", 0.1, func(g *maker, c int, w *fwplaw.Conn) bool { return g.births() && worker(g, c, w) && c != idler },
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"bad-field", 4, func(g *maker, c int, w *fwplaw.Conn) bool { return g.births() && worker(g, c, w) },
		(*maker).badField},
	{"fail-badly", 0.2, holding, (*maker).failBadly},
	{"beat", 40, func(g *maker, c int, _ *fwplaw.Conn) bool { return g.law.Heartbeat(c, time.Now()) != "" },
		writes((*maker).beat)},
}

// workersOfLives is how many numbers of workers are used at a time.
const workersOfLives = 100

// retire has a worker tell of its state, report what it holds, and leave; another one takes its place.
func (g *maker) retire(c int, w *fwplaw.Conn) []explore.Step {
	number, _ := g.law.worker(w.WID)
	state := deal(g, "state of a worker that reports", []string{"terminate", "quiet"})
	steps := []explore.Step{line(c, `BEAT {"wid":"$wid%d","current_state":"%s"}`, number, state)}
	for _, j := range g.toReport(w) {
		steps = append(steps, line(c, "%s", g.report(j)))
	}
	if other := c ^ 1; g.law.world.Conns[other] != nil { // the other one of the worker
		steps = append(steps, g.ending(other))
	}
	g.retired[c/2]++
	return append(steps, g.ending(c))
}

// toReport are the jobs that a worker is to report.
func (g *maker) toReport(w *fwplaw.Conn) []*fwplaw.Job {
	return slices.DeleteFunc(slices.Clone(g.held(w.WID)), func(j *fwplaw.Job) bool { return g.end(j) == wayExpire })
}

// report is an ACK or a FAIL of a job, as its way has it.
func (g *maker) report(j *fwplaw.Job) string {
	jid := g.spelled(j.JID)
	if g.end(j) == wayFail {
		return "FAIL " + g.failure(jid)
	}
	return `ACK {"jid":"` + jid + `"}`
}

// end returns how the work on a job ends that was delivered: first as its way has it, and then in any way that still
// fits into the time.
func (g *maker) end(j *fwplaw.Job) string {
	jid := g.law.symbol(j.JID)
	p := g.plans[jid]
	if p.came == j.Came {
		return p.end
	}
	ends := []string{wayAck}
	switch short := j.Reservation() <= shortest; {
	case p.came == 0 && has(p.way, wayFail), p.came == 0 && has(p.way, wayExpire) && short:
		ends = strings.Fields(p.way)[len(strings.Fields(p.way))-1:]
	case p.came == 0:
	case g.elapsed() < g.times.kept && short:
		ends = []string{wayFail, wayExpire, wayAck}
	case g.elapsed() < g.times.failed:
		ends = []string{wayFail, wayFail, wayAck}
	}
	p.came, p.end = j.Came, choose(g, ends)
	g.plans[jid] = p
	return p.end
}

// shortest is the reservation whose end is waited for.
const shortest = 60 * time.Second

// idler is the connection whose FETCHes find nothing, one after the other.
const idler = 3

// fetchMost is how many queues every server takes in a FETCH.
const fetchMost = 8

// sweep looks into the queues of all jobs that have ended. Each FETCH names last a queue with a job that has just been
// pushed, so that none waits: there are hundreds of queues, and a FETCH that finds nothing takes two seconds.
func (g *maker) sweep(c int, _ *fwplaw.Conn) (steps []explore.Step) {
	g.swept = true
	var queues []string
	for _, j := range g.law.world.Jobs {
		if ended(j) {
			queues = append(queues, g.law.symbol(j.Queue))
		}
	}
	last := g.freshQueue()
	for some := range slices.Chunk(unique(queues), fetchMost-1) {
		jid := g.jid()
		steps = append(steps, push(c, jid, last, ""), line(c, "FETCH %s %s", strings.Join(some, " "), last), ack(c, jid))
	}
	return steps
}

// ended reports whether a job may have ended, and is judged.
func ended(j *fwplaw.Job) bool {
	return j.Unjudged == fwplaw.Judged && j.Where&(model.Gone|model.Dead) != 0
}

// livesEnded reports whether all that [Lives] waits for has come, and the queues were swept.
func (g *maker) livesEnded() bool {
	return !g.births() && (g.swept || !anyOf(maps.Values(g.law.world.Jobs), ended)) && !anyOf(g.underWay(), g.awaited)
}

// anyOf reports whether there is a job of which something is true.
func anyOf(jobs iter.Seq[*fwplaw.Job], is func(*fwplaw.Job) bool) bool {
	for j := range jobs {
		if is(j) {
			return true
		}
	}
	return false
}

// reported reports whether no worker holds a job that came: the last one that did has reported it, or a FLUSH came.
func reported(j *fwplaw.Job) bool {
	return j.Unjudged == fwplaw.Judged && j.Came > 0 && j.Where&(model.Working|model.Unborn) == 0
}

// reported are all such jobs, sorted.
func (g *maker) reported() (all []*fwplaw.Job) {
	for _, j := range g.law.world.Jobs {
		if reported(j) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, byJID)
	return all
}

func (g *maker) beat(w *fwplaw.Conn) string { return `BEAT {"wid":"` + g.spelled(w.WID) + `"}` }

// fetchSome fetches from some of the queues in which jobs may be: first where one is that was scheduled and is due.
func (g *maker) fetchSome(*fwplaw.Conn) string {
	var jobs []*fwplaw.Job
	for j := range g.underWay() {
		if g.comes(j) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, byJID)
	g.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
	slices.SortStableFunc(jobs, func(a, b *fwplaw.Job) int { return b2i(scheduledNow(b)) - b2i(scheduledNow(a)) })
	var queues []string
	for _, j := range jobs {
		if name := g.law.symbol(j.Queue); len(queues) < fetchMost && !slices.Contains(queues, name) {
			queues = append(queues, name)
		}
	}
	if g.Terms.Alone { // no job of another queue is to come there
		queues = append(queues[:min(len(queues), fetchMost-1)], "default")
	}
	return "FETCH " + strings.Join(queues, " ")
}

// underWay iterates over the jobs that have still to come, or to be reported.
func (g *maker) underWay() iter.Seq[*fwplaw.Job] {
	return func(yield func(*fwplaw.Job) bool) {
		for j := range g.law.world.Left(time.Now()) {
			under := j.Unjudged == fwplaw.Judged && j.Where&(model.Gone|model.Dead|model.Unborn) == 0
			if under && !yield(j) {
				return
			}
		}
	}
}

// mayCome reports whether a job may be in its queue now.
func mayCome(j *fwplaw.Job) bool {
	return j.Where&model.Enqueued != 0 && time.Now().After(j.At())
}

// scheduledNow reports whether a job is scheduled, or has become due and has not come yet.
func scheduledNow(j *fwplaw.Job) bool { return j.Where&model.Scheduled != 0 }

// due reports whether a job was scheduled, has become due, and has not come yet.
func due(j *fwplaw.Job) bool { return scheduledNow(j) && mayCome(j) }

// awaited reports whether the end of [Lives] waits for a job: at first for all, and then for those that have not come
// back yet, that certainly will, and whose queues every server takes. The delays of servers grow with each failure.
func (g *maker) awaited(j *fwplaw.Job) bool {
	return g.elapsed() < g.times.awaits ||
		!g.times.brief() && j.Came < 2 && !j.Changed("retry") && slices.Contains(g.queues, g.law.symbol(j.Queue))
}

// soonAt is when a job of a way is to be enqueued: in a moment, by any clock, and some together. A name of a time has
// one value in all of a play, so that those of many jobs lie in the past.
func (g *maker) soonAt() string {
	zone := choose(g, []string{"", "", "@+02:00", "@-05:30", "@+05:45", "@-11:00"})
	g.schedules++
	return fmt.Sprintf(`"$now+%dms%s"`, 300+g.schedules/4*16%1000, zone)
}
