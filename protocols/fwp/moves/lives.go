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
	wayAt      = "at" // it is scheduled
	wayAwaited = "woken"
	wayAck     = "ack"
	wayFail    = "fail"
	wayExpire  = "expire" // its worker keeps it until the reservation ends
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
var awaitedWays = []string{wayAwaited + " " + wayFail, wayAwaited + " " + wayExpire}

// plan is what becomes of a job.
type plan struct {
	way        string
	deliveries int    // how often it had been delivered when end was chosen
	end        string // of the work on it
}

// hasWord reports whether a word is one of a way.
func hasWord(way, word string) bool { return slices.Contains(strings.Fields(way), word) }

// Lives returns FWP as [New] does, with jobs that are scheduled, that fail, and that are kept until their reservation
// ends: all of them are pushed first, wait together, come back with their values, and fail or are kept once more where
// there is time for that. Where the server may be restarted, it is, when all were pushed, and once more before the
// queues of what has ended are looked into.
//
// A limit shorter than [LivesLast] leaves less time for what comes back, and one below [LivesAtLeast] is for servers
// that enqueue a job again soon behind its failure: no job is kept, and it takes some seven seconds.
func Lives(limit time.Duration) *explore.Alphabet {
	if limit < LivesAtLeast {
		return livesOf(shortWays, shortSpans())
	}
	return livesOf(ways, longSpans().shorten(LivesLast-limit))
}

// The times that [Lives] can use, and those that it needs for jobs that are kept.
const (
	LivesLast    = 127 * time.Second
	LivesAtLeast = 95 * time.Second
)

// livesOf returns FWP with jobs that go some ways.
func livesOf(ways []string, times spans) *explore.Alphabet {
	return steadySubject(func(g *maker) explore.Generator {
		start := time.Now()
		g.runTime = func() time.Duration { return time.Since(start) }
		g.ways, g.plans, g.isExpected, g.times = ways, map[string]plan{}, mayCome, times
		g.replacements = map[int]int{}
		g.isPushing = func() bool {
			isPushing := g.pushTime == 0 && g.jobs < times.jobs && g.runTime() < times.pushEnd
			if !isPushing && g.pushTime == 0 {
				g.pushTime = g.runTime()
			}
			return isPushing
		}
		a := g.alphabet(slices.Concat(waitMoves, restartMoves, lifeMoves))
		a.Open = func(conn int) explore.Step { return consumer(conn, g.number(conn)) }
		a.Done = g.areLivesDone
		return a
	})
}

// number is that of the worker of a connection of [Lives]: each has two.
func (g *maker) number(conn int) int { return 1 + conn/2 + workersOfLives*g.replacements[conn/2] }

// spans are how many jobs are pushed whose lives are followed, for how long, until when a job that came back may end in
// the ways that wait, and until when all is awaited whatever its end. At sweep a job whose report had no effect is
// enqueued again: its reservation has run out, and the server has noticed it.
type spans struct {
	jobs                                       int
	pushEnd, keepEnd, failEnd, sweep, awaitEnd time.Duration
}

// isBrief reports whether no job is kept.
func (s spans) isBrief() bool { return s.jobs > 0 && s.keepEnd == 0 }

func longSpans() spans {
	return spans{1600, 6 * time.Second, 25 * time.Second, 70 * time.Second, 104 * time.Second, 125 * time.Second}
}

// shorten returns spans that end earlier. All jobs are pushed and fetched in the same time, and fewer of those that are
// delivered again are failed or kept.
func (s spans) shorten(by time.Duration) spans {
	if by > 0 {
		s.keepEnd, s.failEnd, s.awaitEnd = max(s.keepEnd-by, 1), s.failEnd-by, s.awaitEnd-by
		s.sweep = max(s.sweep-by, s.pushEnd+shortestReservation+16*time.Second)
	}
	return s
}

func shortSpans() spans {
	return spans{400, 2200 * time.Millisecond, 0, 4 * time.Second, 6 * time.Second, 6500 * time.Millisecond}
}

// waitMoves are the moves of what is pushed first, and comes back while all wait.
var waitMoves = []move{
	{"push", 14, func(g *maker, c int, w *fwplaw.Conn) bool { return g.isPushing() && isIdentified(g, c, w) },
		moveOf(func(g *maker, _ *fwplaw.Conn) string { return "PUSH " + g.job() })},
	{"look", 1, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.isPushing() && mayFetch(g, c, w) && anyJob(g.activeJobs(), g.isExpected)
	}, moveOf((*maker).fetchQueues)},
	{"rest", 0.02, func(g *maker, _ int, _ *fwplaw.Conn) bool { return !g.isPushing() }, (*maker).waitMoment},
}

// waitMoment lets a moment pass in which nothing is to be done, and makes room for workers.
func (g *maker) waitMoment(c int, w *fwplaw.Conn) []explore.Step {
	if !mayFetch(g, c, w) {
		return []explore.Step{g.ending(c)}
	}
	return []explore.Step{explore.Wait(10 * time.Millisecond)}
}

// lifeMoves are those of [Lives] beside them.
var lifeMoves = []move{
	{"fetch", 20, hasReadyJobs, (*maker).fetch},
	{"wake", 1, func(g *maker, c int, w *fwplaw.Conn) bool { return g.isPushing() && mayFetch(g, c, w) },
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
			return g.wakeAll(c, deal(g, wayAwaited, awaitedWays))
		}},
	{"burst", 0.5, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.isPushing() && !g.times.isBrief() && g.runTime() < g.times.failEnd && !g.HasDealt("many") &&
			mayFetch(g, c, w)
	}, (*maker).largeBurst},
	{"heap", 0.5, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.isPushing() && g.pushTime < g.times.pushEnd && !g.times.isBrief() && g.runTime() < g.times.failEnd &&
			!g.HasDealt("heap") && mayFetch(g, c, w)
	}, (*maker).hugeBurst},
	{"report-again", 0.2, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.runTime() < g.times.failEnd && mayFetch(g, c, w) && anyJob(maps.Values(g.law.world.Jobs), isReported)
	}, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		jid := g.spellName(choose(g, g.reportedJobs()).JID)
		return []explore.Step{choose(g, []explore.Step{ack(c, jid), line(c, "FAIL %s", g.failure(jid))})}
	}},
	{"report", 40, func(g *maker, _ int, w *fwplaw.Conn) bool { return len(g.jobsToReport(w)) > 0 },
		func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
			return []explore.Step{line(c, "%s", g.report(choose(g, g.jobsToReport(w))))}
		}},
	{"sweep", 1000, func(g *maker, c int, w *fwplaw.Conn) bool {
		return !g.isSwept && g.runTime() >= g.times.sweep && c != idleConn && mayFetch(g, c, w)
	}, (*maker).sweep},
	{"idle", 1000, func(g *maker, c int, w *fwplaw.Conn) bool { return c == idleConn && mayFetch(g, c, w) },
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
			return []explore.Step{sendAhead(line(c, "FETCH %s", g.freshQueue()))}
		}},
	{"retire", 0.4, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.isPushing() && c/2 != idleConn/2 && mayFetch(g, c, w) && len(g.jobsToReport(w)) > 0
	}, (*maker).retire},
	{"leave", 0.1, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.isPushing() && isWorker(g, c, w) &&
			c != idleConn
	},
		func(g *maker, c int, _ *fwplaw.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"bad-field", 4, func(g *maker, c int, w *fwplaw.Conn) bool { return g.isPushing() && isWorker(g, c, w) },
		(*maker).badField},
	{"fail-badly", 0.2, holdsJobs, (*maker).failMalformed},
	{"beat", 40, func(g *maker, c int, _ *fwplaw.Conn) bool { return g.law.Heartbeat(c, time.Now()) != "" },
		moveOf((*maker).beat)},
}

// workersOfLives is how many numbers of workers are used at a time.
const workersOfLives = 100

// retire has a worker tell of its state, report what it holds, and leave; another one takes its place.
func (g *maker) retire(c int, w *fwplaw.Conn) []explore.Step {
	number, _ := g.law.worker(w.WID)
	state := deal(g, "state of a worker that reports", []string{"terminate", "quiet"})
	steps := []explore.Step{line(c, `BEAT {"wid":"$wid%d","current_state":"%s"}`, number, state)}
	for _, j := range g.jobsToReport(w) {
		steps = append(steps, line(c, "%s", g.report(j)))
	}
	if other := c ^ 1; g.law.world.Conns[other] != nil { // the other one of the worker
		steps = append(steps, g.ending(other))
	}
	g.replacements[c/2]++
	return append(steps, g.ending(c))
}

// jobsToReport are the jobs that a worker is to report.
func (g *maker) jobsToReport(w *fwplaw.Conn) []*fwplaw.Job {
	return slices.DeleteFunc(slices.Clone(g.heldJobs(w.WID)), func(j *fwplaw.Job) bool { return g.end(j) == wayExpire })
}

// report is an ACK or a FAIL of a job, as its way has it.
func (g *maker) report(j *fwplaw.Job) string {
	jid := g.spellName(j.JID)
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
	if p.deliveries == j.Deliveries {
		return p.end
	}
	ends := []string{wayAck}
	switch isShort := j.Reservation() <= shortestReservation; {
	case p.deliveries == 0 && hasWord(p.way, wayFail), p.deliveries == 0 && hasWord(p.way, wayExpire) && isShort:
		ends = strings.Fields(p.way)[len(strings.Fields(p.way))-1:]
	case p.deliveries == 0:
	case g.runTime() < g.times.keepEnd && isShort:
		ends = []string{wayFail, wayExpire, wayAck}
	case g.runTime() < g.times.failEnd:
		ends = []string{wayFail, wayFail, wayAck}
	}
	p.deliveries, p.end = j.Deliveries, choose(g, ends)
	g.plans[jid] = p
	return p.end
}

// shortestReservation is the reservation whose end is waited for.
const shortestReservation = 60 * time.Second

// idleConn is the connection whose FETCHes find nothing, one after the other.
const idleConn = 3

// maxFetch is how many queues every server takes in a FETCH.
const maxFetch = 8

// sweep looks into the queues of all jobs that have ended. Each FETCH names last a queue with a job that has just been
// pushed, so that none waits: there are hundreds of queues, and a FETCH that finds nothing takes two seconds.
func (g *maker) sweep(c int, _ *fwplaw.Conn) (steps []explore.Step) {
	g.isSwept = true
	var queues []string
	for _, j := range g.law.world.Jobs {
		if hasEnded(j) {
			queues = append(queues, g.law.symbol(j.Queue))
		}
	}
	last := g.freshQueue()
	for names := range slices.Chunk(unique(queues), maxFetch-1) {
		jid := g.jid()
		steps = append(steps, push(c, jid, last, ""), line(c, "FETCH %s %s", strings.Join(names, " "), last), ack(c, jid))
	}
	return steps
}

// hasEnded reports whether a job may have ended, and is judged.
func hasEnded(j *fwplaw.Job) bool {
	return j.Unjudged == fwplaw.Judged && j.States&(model.Absent|model.Dead) != 0
}

// areLivesDone reports whether all that [Lives] waits for has come, and the queues were swept.
func (g *maker) areLivesDone() bool {
	return !g.isPushing() && (g.isSwept || !anyJob(maps.Values(g.law.world.Jobs), hasEnded)) &&
		!anyJob(g.activeJobs(), g.isAwaited)
}

// anyJob reports whether there is a job of which something is true.
func anyJob(jobs iter.Seq[*fwplaw.Job], matches func(*fwplaw.Job) bool) bool {
	for j := range jobs {
		if matches(j) {
			return true
		}
	}
	return false
}

// isReported reports whether no worker holds a job that came: the last one that did has reported it, or a FLUSH came.
func isReported(j *fwplaw.Job) bool {
	return j.Unjudged == fwplaw.Judged && j.Deliveries > 0 && j.States&(model.Working|model.Unborn) == 0
}

// reportedJobs are all such jobs, sorted.
func (g *maker) reportedJobs() (all []*fwplaw.Job) {
	for _, j := range g.law.world.Jobs {
		if isReported(j) {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, byJID)
	return all
}

func (g *maker) beat(w *fwplaw.Conn) string { return `BEAT {"wid":"` + g.spellName(w.WID) + `"}` }

// fetchQueues fetches from some of the queues in which jobs may be: first where one is that was scheduled and is due.
func (g *maker) fetchQueues(*fwplaw.Conn) string {
	var jobs []*fwplaw.Job
	for j := range g.activeJobs() {
		if g.isExpected(j) {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, byJID)
	g.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
	slices.SortStableFunc(jobs, func(a, b *fwplaw.Job) int { return b2i(isScheduled(b)) - b2i(isScheduled(a)) })
	var queues []string
	for _, j := range jobs {
		if name := g.law.symbol(j.Queue); len(queues) < maxFetch && !slices.Contains(queues, name) {
			queues = append(queues, name)
		}
	}
	if g.Terms.Alone { // no job of another queue is to come there
		queues = append(queues[:min(len(queues), maxFetch-1)], "default")
	}
	return "FETCH " + strings.Join(queues, " ")
}

// activeJobs iterates over the jobs that have still to come, or to be reported.
func (g *maker) activeJobs() iter.Seq[*fwplaw.Job] {
	return func(yield func(*fwplaw.Job) bool) {
		for j := range g.law.world.QueuedJobs(time.Now()) {
			isActive := j.Unjudged == fwplaw.Judged && j.States&(model.Absent|model.Dead|model.Unborn) == 0
			if isActive && !yield(j) {
				return
			}
		}
	}
}

// mayCome reports whether a job may be in its queue now.
func mayCome(j *fwplaw.Job) bool {
	return j.States&model.Enqueued != 0 && time.Now().After(j.At())
}

// isScheduled reports whether a job is scheduled, or has become due and has not come yet.
func isScheduled(j *fwplaw.Job) bool { return j.States&model.Scheduled != 0 }

// isDue reports whether a job was scheduled, has become due, and has not come yet.
func isDue(j *fwplaw.Job) bool { return isScheduled(j) && mayCome(j) }

// isAwaited reports whether the end of [Lives] waits for a job: at first for all, and then for those that have not come
// back yet, that certainly will, and whose queues every server takes. The delays of servers grow with each failure.
func (g *maker) isAwaited(j *fwplaw.Job) bool {
	return g.runTime() < g.times.awaitEnd ||
		!g.times.isBrief() && j.Deliveries < 2 && !j.IsChanged("retry") && slices.Contains(g.queues, g.law.symbol(j.Queue))
}

// momentTime is when a job of a way is to be enqueued: in a moment, by any clock, and some together. A name of a time
// has one value in all of a play, so that those of many jobs lie in the past.
func (g *maker) momentTime() string {
	zone := choose(g, []string{"", "", "@+02:00", "@-05:30", "@+05:45", "@-11:00"})
	g.schedules++
	return fmt.Sprintf(`"$now+%dms%s"`, 300+g.schedules/4*16%1000, zone)
}
