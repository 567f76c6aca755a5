package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// record is what inspect shows of one object.
type record struct {
	name   string
	keys   map[string]json.RawMessage
	object []byte
}

// records reads a reply to inspect.
func records(m session.Message) (all []record) {
	for i := 1; i+2 < len(m.Parts); i += 3 {
		r := record{name: string(m.Parts[i]), object: m.Parts[i+2]}
		_ = json.Unmarshal(r.object, &r.keys) // the session has written it
		all = append(all, r)
	}
	return all
}

// judgeInspect judges what inspect shows of several jobs, of queues and of the server.
func (l *workqLaw) judgeInspect(k *call, m session.Message, at time.Time) ruling {
	if m.Kind != workqsession.OK {
		_, certain, _ := l.count(k, k.Name(), ready)
		_, certainScheduled, _ := l.count(k, k.Name(), scheduled)
		switch {
		case k.Verb == workq.InspectServer, certain > 0 && k.Verb != workq.InspectScheduled,
			certainScheduled > 0 && k.Verb != workq.InspectJobs:
			return ruling{clause: commandClauses[k.Verb], rule: "reply", expected: "+OK ..."}
		}
		return ruling{} // whether there is an empty queue is open
	}
	switch k.Verb {
	case workq.InspectServer:
		return l.judgeServer(records(m)[0], at)
	case workq.InspectQueue:
		return l.judgeQueue(k, k.Name(), records(m)[0])
	case workq.InspectQueues:
		return l.judgeQueues(k, records(m))
	}
	return l.judgeList(k, records(m), at)
}

// count returns the jobs of a name that may have been in a state when a command looked, and how many were for certain,
// and at the most. A job that has no attempts left need not be counted as ready.
func (l *workqLaw) count(k *call, name string, s state) (jobs []*job, certain, possible int) {
	for _, id := range l.order {
		j := l.jobs[id]
		if j == nil || j.Name() != name {
			continue
		}
		views := j.views(k)
		fits := func(c possibleState) bool { return c.state == s || c.state == unknown || j.lingers(c, k) }
		if !slices.ContainsFunc(views, fits) {
			continue
		}
		jobs, possible = append(jobs, j), possible+1
		if !slices.ContainsFunc(views, func(c possibleState) bool {
			return c.state != s || s == ready && !j.isLeasable(c)
		}) {
			certain++
		}
	}
	return jobs, certain, possible
}

// lingers reports whether a job that is deleted because of its time may still be counted.
func (j *job) lingers(c possibleState, k *call) bool {
	return c.state == deleted && c.isTimed && k.sentAt.Before(c.bornLatest.Add(milliseconds(j.TTL)+maxLateness))
}

// judgeQueue judges the counters of a queue.
func (l *workqLaw) judgeQueue(k *call, name string, r record) ruling {
	for _, c := range []struct {
		key   string
		state state
	}{{"ready-len", ready}, {"scheduled-len", scheduled}} {
		_, certain, possible := l.count(k, name, c.state)
		n, err := strconv.Atoi(string(r.keys[c.key]))
		if err != nil || n < certain || n > possible && l.ownsNames([]string{name}) && !l.isUnjudged {
			want := strconv.Itoa(certain)
			if possible > certain {
				want = fmt.Sprintf("int(%d..%d)", certain, possible)
			}
			return ruling{
				clause: "INSP-10", rule: "field", queue: name, got: c.key + ": " + cmp.Or(string(r.keys[c.key]), "nothing"),
				expected: fmt.Sprintf(`+OK 1 %s int(2..) {%q:%s}`, name, c.key, want),
			}
		}
	}
	return ruling{}
}

// judgeQueues judges a list of queues: their counters, their order, and that there are no more than were asked for.
func (l *workqLaw) judgeQueues(k *call, all []record) ruling {
	breach := ruling{clause: "INSP-07", rule: "shown", expected: fmt.Sprintf("+OK int(0..%d) ...", k.Limit)}
	if uint64(len(all)) > k.Limit {
		return breach
	}
	names := map[string]bool{}
	for i, r := range all {
		if i > 0 && isDisordered(all[i-1].name, r.name) {
			breach.clause, breach.detail = "INSP-11", fmt.Sprintf("%s comes before %s", all[i-1].name, r.name)
			return breach
		}
		names[r.name] = true
		if r := l.judgeQueue(k, r.name, r); r.expected != "" {
			return r
		}
	}
	if r := l.judgeCursor(k, all); r.expected != "" || k.Offset > 0 || len(all) == 0 && k.Limit == 0 {
		return r
	}
	if name := l.missingQueue(k, all, names); name != "" {
		breach.clause, breach.detail = "INSP-11", name+" is missing"
		return breach
	}
	return ruling{}
}

// missingQueue returns a queue that certainly has jobs and is not in a list in which it belongs, "" if there is none.
func (l *workqLaw) missingQueue(k *call, all []record, names map[string]bool) string {
	for _, id := range l.order {
		j := l.jobs[id]
		if j == nil || names[j.Name()] || uint64(len(all)) >= k.Limit && !isDisordered(all[len(all)-1].name, j.Name()) {
			continue
		}
		_, readyCount, _ := l.count(k, j.Name(), ready)
		_, scheduledCount, _ := l.count(k, j.Name(), scheduled)
		if readyCount+scheduledCount > 0 {
			return j.Name()
		}
	}
	return ""
}

// isDisordered reports whether two names are not in alphabetical order, nor in it whatever the case of letters, nor by
// their letters and digits alone.
func isDisordered(a, b string) bool {
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
	}
	return a >= b && strings.ToLower(a) >= strings.ToLower(b) && plain(a) >= plain(b)
}

// judgeServer judges what inspect shows of the server. Other clients use it too.
func (l *workqLaw) judgeServer(r record, at time.Time) ruling {
	servedCount := 0
	for _, c := range l.conns {
		if c.isServed {
			servedCount++
		}
	}
	breach := ruling{clause: "INSP-12", rule: "field"}
	wrong := func(key, want string) ruling {
		breach.expected = fmt.Sprintf(`+OK 1 server int(3..) {%q:%s}`, key, want)
		breach.got = key + ": " + cmp.Or(string(r.keys[key]), "nothing")
		return breach
	}
	connCount, isKnown := l.History.MaxConns()
	clients := newBounds(servedCount, lingerFactor*connCount+probeCount, isKnown)
	if n, err := strconv.Atoi(string(r.keys["active-clients"])); err != nil || !clients.has(n) {
		return wrong("active-clients", clients.pattern())
	}
	evictedCount, err := strconv.ParseUint(string(r.keys["evicted-jobs"]), 10, 64)
	certain, possible := l.evictions()
	low := l.evictedCount + uint64(max(0, certain-l.evictableCount)) //nolint:gosec // not negative
	lapsedCount, isLimited := l.History.Lapsed(at)
	jobs := newBounds(int(low), lapsedCount, isLimited) //nolint:gosec // far below
	if err != nil || !jobs.has(int(evictedCount)) {     //nolint:gosec // as above
		return wrong("evicted-jobs", jobs.pattern())
	}
	l.evictedCount, l.evictableCount = evictedCount, possible
	startedAt, ok := timeOf(r.keys["started"])
	_, now, isKnown := l.clock.Between(at, at)
	if !isKnown {
		now = at.Add(24 * time.Hour)
	}
	if !ok || startedAt.After(now) || l.startTime != "" && l.startTime != string(r.keys["started"]) {
		return wrong("started", cmp.Or(l.startTime, "time"))
	}
	l.startTime = string(r.keys["started"])
	return ruling{}
}

// A server may count connections for a while that have ended, and those by which it was asked whether it serves.
const lingerFactor, probeCount = 2, 20

// bounds are those of a count.
type bounds struct{ low, high int }

// newBounds returns bounds; isLimited says that high counts.
func newBounds(low, high int, isLimited bool) bounds {
	if !isLimited {
		high = math.MaxInt
	}
	return bounds{low, high}
}

func (b bounds) has(n int) bool { return n >= b.low && n <= b.high }

func (b bounds) pattern() string {
	if b.high == math.MaxInt {
		return fmt.Sprintf("int(%d..)", b.low)
	}
	return fmt.Sprintf("int(%d..%d)", b.low, b.high)
}

// lapse returns from when on the time of the job may be over that a command adds.
func (k *call) lapse() time.Time {
	switch k.Verb {
	case workq.Schedule:
		dueTime, _ := workq.Time(k.Time) // the reader has checked it
		return maxTime(dueTime.Add(-skew), k.sentAt).Add(milliseconds(k.TTL))
	case workq.Run:
		return k.sentAt.Add(min(milliseconds(k.Wait), milliseconds(k.TTR)))
	}
	return k.sentAt.Add(milliseconds(k.TTL))
}

// recordLapses records the jobs that bytes may add which are no commands, and returns their keys.
func (l *workqLaw) recordLapses(all []byte, at time.Time) (keys []string) {
	all = bytes.ToLower(all)
	for _, verb := range []string{workq.Add, workq.Schedule, workq.Run} {
		for range bytes.Count(all, []byte(verb)) {
			l.callCount++
			keys = append(keys, fmt.Sprint(l.NamePrefix, "+", l.callCount))
			l.History.SetLapse(keys[len(keys)-1], at)
		}
	}
	return keys
}

// evictions counts the jobs whose time to live was over before they had ended: for certain, and at the most.
func (l *workqLaw) evictions() (certain, possible int) {
	for _, j := range l.jobs {
		if j.isAlways(func(c possibleState) bool { return c.isEvicted }) {
			certain++
		}
		if slices.ContainsFunc(j.possibleStates, func(c possibleState) bool { return c.isEvicted || c.state == unknown }) {
			possible++
		}
	}
	return certain, possible
}

// timeOf returns the time of a key.
func timeOf(value json.RawMessage) (at time.Time, ok bool) {
	var word string
	if json.Unmarshal(value, &word) != nil {
		return at, false
	}
	at, err := time.Parse(time.RFC3339, word)
	_, offset := at.Zone()
	return at, err == nil && offset == 0 // the document wants UTC, and no Z
}

// judgeList judges a list of jobs. Whether those that a worker has, and those that have ended, are in it is open.
func (l *workqLaw) judgeList(k *call, all []record, at time.Time) ruling {
	clause, s := "INSP-06", ready
	if k.Verb == workq.InspectScheduled {
		clause, s = "INSP-09", scheduled
	}
	if uint64(len(all)) > k.Limit {
		return ruling{clause: "INSP-07", rule: "listed", expected: fmt.Sprintf("+OK int(0..%d) ...", k.Limit)}
	}
	jobs, certain, possible := l.count(k, k.Name(), s) // before the list tells more
	if r := l.judgeEntries(k, all, clause, s, at); r.expected != "" {
		return r
	}
	if s == ready {
		possible = l.countListable(k)
	}
	if r := l.judgeLength(k, all, clause, certain, possible); r.expected != "" {
		return r
	}
	if r := l.judgeCursor(k, all); r.expected != "" {
		return r
	}
	if k.Offset > 0 || uint64(len(all)) == k.Limit {
		return ruling{}
	}
	return judgeMissing(k, all, clause, s, jobs)
}

// listRuling is the ruling of a job that a list should not show, or should.
func listRuling(clause, detail, id string) ruling {
	return ruling{clause: clause, rule: "shown", expected: "+OK int(0..) ...", detail: detail, job: id}
}

// judgeEntries judges the jobs in a list one by one; one that should not be there counts before what is shown of
// another.
func (l *workqLaw) judgeEntries(k *call, all []record, clause string, s state, at time.Time) (found ruling) {
	names := map[string]bool{}
	for _, r := range all {
		j := l.jobs[r.name]
		switch {
		case j == nil && !l.isUnjudged && l.ownsNames(k.Names), j != nil && j.Name() != k.Name() && !j.mayBe(unknown):
			return listRuling(clause, r.name+" is not a job of this name", r.name)
		case names[r.name]:
			return listRuling(clause, r.name+" is listed twice", r.name)
		case j == nil:
			continue
		}
		names[r.name] = true
		if found.expected == "" {
			found = j.judgeEntry(k, r, s, at)
		}
	}
	return found
}

// judgeLength judges how many jobs a list has, of those that must and may be in it.
func (l *workqLaw) judgeLength(k *call, all []record, clause string, certain, possible int) ruling {
	low := min(k.Limit, uint64(max(0, certain-int(min(k.Offset, 1<<20)))))   //nolint:gosec // at most 2^20
	high := min(k.Limit, uint64(max(0, possible-int(min(k.Offset, 1<<20))))) //nolint:gosec // as above
	if n := uint64(len(all)); n >= low && (n <= high || l.isUnjudged || !l.ownsNames(k.Names)) {
		return ruling{}
	}
	if k.Offset > 0 || k.Limit < uint64(possible) { //nolint:gosec // not negative
		clause = "INSP-07"
	}
	return ruling{clause: clause, rule: "listed", expected: fmt.Sprintf("+OK int(%d..%d) ...", low, high)}
}

// judgeMissing judges that a complete list has all jobs that were in a state for certain.
func judgeMissing(k *call, all []record, clause string, s state, jobs []*job) ruling {
	for _, j := range jobs {
		isListed := slices.ContainsFunc(all, func(r record) bool { return r.name == j.ID })
		differs := func(c possibleState) bool { return c.state != s || s == ready && !j.isLeasable(c) }
		if !isListed && !slices.ContainsFunc(j.views(k), differs) {
			return listRuling(clause, j.ID+" is missing", j.ID)
		}
	}
	return ruling{}
}

// countListable counts the jobs that inspect jobs may show.
func (l *workqLaw) countListable(k *call) int {
	var jobs []*job
	for _, s := range []state{ready, leased, completed, failed} {
		found, _, _ := l.count(k, k.Name(), s)
		for _, j := range found {
			if !slices.Contains(jobs, j) {
				jobs = append(jobs, j)
			}
		}
	}
	return len(jobs)
}

// judgeEntry judges a job in a list of those that are ready, or of those that are scheduled.
func (j *job) judgeEntry(k *call, r record, s state, at time.Time) ruling {
	fits := func(c possibleState) bool {
		if s == scheduled {
			return c.state == scheduled || c.state == unknown
		}
		return c.state != scheduled && c.state != deleted && c.state != absent
	}
	views := j.views(k)
	if len(views) == 0 || slices.ContainsFunc(views, fits) {
		return j.judgeKeys(k, r.object, at)
	}
	wrong := ruling{
		clause: "INSP-08", rule: "shown", expected: "+OK int(0..) ...", detail: j.ID + " is listed", job: j.ID,
		isTimed: views[0].isTimed,
	}
	switch {
	case views[0].state == deleted && views[0].isTimed:
		wrong.clause = "ADD-08"
	case views[0].state == deleted:
		wrong.clause = "DEL-02"
	case s == scheduled:
		wrong.clause = "INSP-09"
	}
	return wrong
}
