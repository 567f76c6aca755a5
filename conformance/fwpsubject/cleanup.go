package fwpsubject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// The connections that clean up: one that fetches, one for what wild bytes have left, and
// behind them one for each worker that holds jobs.
const (
	cleaner     = explore.Cleaner
	wildCleaner = explore.Cleaner + 1
)

// cleaning is one clean-up. Its methods play steps, and report whether to go on.
type cleaning struct {
	*law
	how  explore.Cleaning
	play func(explore.Step) bool
}

// Cleanup returns the steps that acknowledge what workers hold, fetch and acknowledge
// what is enqueued, and the same for the jobs of wild bytes.
func (l *law) Cleanup(how explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		c := cleaning{law: l, how: how, play: play}
		done := c.held() && c.enqueued()
		if wait := l.comes(time.Now()); done && how == explore.Patiently && wait > 0 {
			done = play(explore.Step{Kind: explore.Wait, For: wait}) && c.held() && c.enqueued()
		}
		_ = done && c.wild()
	}
}

// held acknowledges what workers hold, each on a connection of its own.
func (c cleaning) held() bool {
	held := map[int][]string{}
	for _, j := range c.remaining(time.Now()) {
		var worker int
		if _, err := fmt.Sscanf(c.symbol(j.Holder), "$wid%d", &worker); err == nil && j.Where&model.Working != 0 {
			held[worker] = append(held[worker], c.symbol(j.JID))
		}
	}
	for i, worker := range slices.Sorted(maps.Keys(held)) {
		conn := wildCleaner + 1 + i
		if !c.open(conn, worker) {
			return false
		}
		for _, jid := range held[worker] {
			if !c.say(conn, `ACK {"jid":"%s"}`, jid) {
				return false
			}
		}
		if !c.play(explore.Step{Kind: explore.End, Conn: conn, Ending: scenarios.Closed}) {
			return false
		}
	}
	return true
}

// open opens a connection. A server that does not let one in, or answers nothing on it,
// will not do so on the next.
func (c cleaning) open(conn, worker int) bool {
	return c.play(explore.Step{Kind: explore.Open, Conn: conn, Role: scenarios.Consumer, Worker: worker}) && c.conns[conn] != nil
}

// say sends a line, and reports whether the connection is still there.
func (c cleaning) say(conn int, format string, args ...any) bool {
	return c.play(explore.Line(conn, format, args...)) && c.conns[conn] != nil
}

// Queues of one FETCH: few where each is known to hold a job, so that their lines stay short.
const (
	queuesSure   = 50
	queuesUnsure = 400
)

// enqueued fetches what is certain to be enqueued, job by job, and then, if there is time
// for it, from wherever something may be until nothing comes.
func (c cleaning) enqueued() bool {
	var sure, unsure []string
	for _, j := range c.remaining(time.Now()) {
		for word := range strings.FieldsSeq(j.Queue) {
			switch name := c.symbol(word); {
			case j.Where&model.Enqueued == 0 || !c.mine(name):
			case j.Where == model.Enqueued:
				sure = append(sure, name)
			default:
				unsure = append(unsure, name)
			}
		}
	}
	if c.how == explore.Quickly {
		unsure = nil
	}
	if len(sure)+len(unsure) == 0 {
		return true
	}
	if !c.open(cleaner, cleaner) {
		return false
	}
	for part := range slices.Chunk(sure, queuesSure) {
		if !c.fetch(unique(part), len(part)) {
			return false
		}
	}
	for part := range slices.Chunk(unique(unsure), queuesUnsure) {
		if !c.fetch(part, len(c.remaining(time.Now()))+10) {
			return false
		}
	}
	return true
}

func unique(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// fetch fetches from queues until nothing comes, and no more than so many jobs.
func (c cleaning) fetch(queues []string, most int) bool {
	for range most {
		if !c.say(cleaner, "FETCH %s", strings.Join(queues, " ")) {
			return false
		}
		jid := c.conns[cleaner].last.Job
		if jid == "" {
			break
		}
		if c.world.Jobs[jid] != nil && !c.say(cleaner, `ACK {"jid":"%s"}`, c.symbol(jid)) { // else it is somebody's
			return false
		}
	}
	return true
}

// mine reports whether a queue may be emptied: default only if nobody else uses the
// server.
func (l *law) mine(symbol string) bool {
	return strings.HasPrefix(symbol, "$queue") || symbol == "default" && l.Alone
}

// comes is how long it takes until the last of the jobs that were put off should be
// enqueued; zero if none was.
func (l *law) comes(now time.Time) time.Duration {
	const comes, late = model.Scheduled | model.Enqueued, 2 * time.Second // some schedulers look every few seconds
	var last time.Duration
	for _, j := range l.remaining(now) {
		if j.Where&comes == comes {
			last = max(last, j.At().Sub(now)+late)
		}
	}
	return min(last, 14*time.Second)
}

// Leftover names the jobs that may still be on the server.
func (l *law) Leftover() []string {
	var all []string
	for _, j := range l.remaining(time.Now()) {
		all = append(all, j.JID)
	}
	return all
}

// remaining lists the jobs that may still be on the server.
func (l *law) remaining(now time.Time) []*oracle.Job {
	var all []*oracle.Job
	for _, jid := range slices.Sorted(maps.Keys(l.world.Jobs)) {
		j := l.world.Jobs[jid]
		l.world.In(j.Queue, now)
		if j.Where&^(model.Gone|model.Dead) != 0 {
			all = append(all, j)
		}
	}
	return all
}

// wildJob is a job that wild bytes may have pushed.
type wildJob struct{ jid, queue string }

// fetchable are queues that a FETCH can name.
var fetchable = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// jobsIn lists the jobs that some server might find in bytes.
func jobsIn(all []byte) []wildJob {
	var jobs []wildJob
	for len(all) > 0 {
		line, rest, _ := bytes.Cut(all, []byte("\n"))
		if at := afterVerb(line, fwp.PUSH); at > 0 && bytes.IndexByte(line[at:], '{') >= 0 {
			fields, _ := topFields(all[at+bytes.IndexByte(line[at:], '{'):])
			jobs = append(jobs, wildJob{valueOf(fields, "jid"), valueOf(fields, "queue")})
		}
		all = rest
	}
	return jobs
}

// valueOf is the last value of a field, "" if it is not there.
func valueOf(fields []member, name string) (value string) {
	for _, f := range fields {
		if f.name == name {
			value = f.value
		}
	}
	return value
}

// wild removes what wild bytes have left: nothing that is judged knows of it.
func (c cleaning) wild() bool {
	c.pushed = slices.DeleteFunc(c.pushed, func(j wildJob) bool { return !strings.HasPrefix(j.queue, c.Prefix) })
	if len(c.pushed) == 0 {
		return true
	}
	if !c.open(wildCleaner, fuzzedNames) {
		return false
	}
	queues := map[string]bool{}
	for _, j := range c.pushed {
		queues[j.queue] = true
		if !c.acknowledge(j.jid) {
			return false
		}
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(queues)), 200) {
		if !c.empty(part) {
			return false
		}
	}
	c.law.pushed = nil
	return true
}

func (c cleaning) acknowledge(jid string) bool {
	text, _ := json.Marshal(c.symbol(jid)) // strings can always be written
	return c.say(wildCleaner, `ACK {"jid":%s}`, text)
}

// empty pushes a job to another queue and fetches until it comes: a FETCH for queues that
// are empty would wait for two seconds.
func (c cleaning) empty(queues []string) bool {
	last := fmt.Sprintf("%d", 2*fuzzedNames+len(queues))
	if !c.say(wildCleaner, `PUSH {"jid":"$jid%s","jobtype":"t","args":[],"queue":"$queue%s","retry":0}`, last, last) {
		return false
	}
	names := make([]string, len(queues))
	for i, name := range queues {
		names[i] = c.symbol(name)
	}
	for range 4*len(queues) + 10 { // a server may give the same one again and again
		if !c.say(wildCleaner, "FETCH %s $queue%s", strings.Join(names, " "), last) {
			return false
		}
		jid := c.conns[wildCleaner].last.Job
		if jid == "" || !c.acknowledge(jid) {
			return jid == ""
		}
		if jid == c.real("$jid"+last) {
			return true
		}
	}
	return true
}
