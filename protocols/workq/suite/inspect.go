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
	name string
	keys map[string]json.RawMessage
	all  []byte
}

// records reads a reply to inspect.
func records(m session.Message) (all []record) {
	for i := 1; i+2 < len(m.Parts); i += 3 {
		r := record{name: string(m.Parts[i]), all: m.Parts[i+2]}
		_ = json.Unmarshal(r.all, &r.keys) // the session has written it
		all = append(all, r)
	}
	return all
}

// inspected judges what inspect shows of several jobs, of queues and of the server.
func (l *workqLaw) inspected(k *call, m session.Message, at time.Time) ruling {
	if m.Kind != workqsession.OK {
		_, must, _ := l.count(k, k.Name(), ready)
		_, mustLater, _ := l.count(k, k.Name(), scheduled)
		switch {
		case k.Verb == workq.InspectServer, must > 0 && k.Verb != workq.InspectScheduled,
			mustLater > 0 && k.Verb != workq.InspectJobs:
			return ruling{clause: commandClauses[k.Verb], rule: "reply", expected: "+OK ..."}
		}
		return ruling{} // whether there is an empty queue is open
	}
	switch k.Verb {
	case workq.InspectServer:
		return l.server(records(m)[0], at)
	case workq.InspectQueue:
		return l.queue(k, k.Name(), records(m)[0])
	case workq.InspectQueues:
		return l.queues(k, records(m))
	}
	return l.listed(k, records(m), at)
}

// count returns the jobs of a name that may have been in a state when a command looked, and how many were for certain,
// and at the most. A job that has no attempts left need not be counted as ready.
func (l *workqLaw) count(k *call, name string, s state) (jobs []*job, must, may int) {
	for _, id := range l.order {
		j := l.jobs[id]
		if j == nil || j.Name() != name {
			continue
		}
		views := j.views(k)
		was := func(c config) bool { return c.state == s || c.state == open || j.lingers(c, k) }
		if !slices.ContainsFunc(views, was) {
			continue
		}
		jobs, may = append(jobs, j), may+1
		if !slices.ContainsFunc(views, func(c config) bool {
			return c.state != s || s == ready && !j.leasable(c)
		}) {
			must++
		}
	}
	return jobs, must, may
}

// lingers reports whether a job that is deleted because of its time may still be counted.
func (j *job) lingers(c config, k *call) bool {
	return c.state == deleted && c.timed && k.sent.Before(c.bornBy.Add(milliseconds(j.TTL)+late))
}

// queue judges the counters of a queue.
func (l *workqLaw) queue(k *call, name string, r record) ruling {
	for _, c := range []struct {
		key string
		of  state
	}{{"ready-len", ready}, {"scheduled-len", scheduled}} {
		_, must, may := l.count(k, name, c.of)
		n, err := strconv.Atoi(string(r.keys[c.key]))
		if err != nil || n < must || n > may && l.own([]string{name}) && !l.unjudged {
			want := strconv.Itoa(must)
			if may > must {
				want = fmt.Sprintf("int(%d..%d)", must, may)
			}
			return ruling{
				clause: "INSP-10", rule: "field", queue: name, got: c.key + ": " + cmp.Or(string(r.keys[c.key]), "nothing"),
				expected: fmt.Sprintf(`+OK 1 %s int(2..) {%q:%s}`, name, c.key, want),
			}
		}
	}
	return ruling{}
}

// queues judges a list of queues: their counters, their order, and that there are no more than were asked for.
func (l *workqLaw) queues(k *call, all []record) ruling {
	shown := ruling{clause: "INSP-07", rule: "shown", expected: fmt.Sprintf("+OK int(0..%d) ...", k.Limit)}
	if uint64(len(all)) > k.Limit {
		return shown
	}
	names := map[string]bool{}
	for i, r := range all {
		if i > 0 && disordered(all[i-1].name, r.name) {
			shown.clause, shown.what = "INSP-11", fmt.Sprintf("%s comes before %s", all[i-1].name, r.name)
			return shown
		}
		names[r.name] = true
		if r := l.queue(k, r.name, r); r.expected != "" {
			return r
		}
	}
	if r := l.iterated(k, all); r.expected != "" || k.Offset > 0 || len(all) == 0 && k.Limit == 0 {
		return r
	}
	if name := l.missing(k, all, names); name != "" {
		shown.clause, shown.what = "INSP-11", name+" is missing"
		return shown
	}
	return ruling{}
}

// missing returns a queue that certainly has jobs and is not in a list in which it belongs, "" if there is none.
func (l *workqLaw) missing(k *call, all []record, names map[string]bool) string {
	for _, id := range l.order {
		j := l.jobs[id]
		if j == nil || names[j.Name()] || uint64(len(all)) >= k.Limit && !disordered(all[len(all)-1].name, j.Name()) {
			continue
		}
		_, now, _ := l.count(k, j.Name(), ready)
		_, later, _ := l.count(k, j.Name(), scheduled)
		if now+later > 0 {
			return j.Name()
		}
	}
	return ""
}

// disordered reports whether two names are not in alphabetical order, nor in it whatever the case of letters, nor by
// their letters and digits alone.
func disordered(a, b string) bool {
	plain := func(name string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
	}
	return a >= b && strings.ToLower(a) >= strings.ToLower(b) && plain(a) >= plain(b)
}

// server judges what inspect shows of the server. Other clients use it too.
func (l *workqLaw) server(r record, at time.Time) ruling {
	served := 0
	for _, c := range l.conns {
		if c.served {
			served++
		}
	}
	of := ruling{clause: "INSP-12", rule: "field"}
	wrong := func(key, want string) ruling {
		of.expected = fmt.Sprintf(`+OK 1 server int(3..) {%q:%s}`, key, want)
		of.got = key + ": " + cmp.Or(string(r.keys[key]), "nothing")
		return of
	}
	open, known := l.Server.MostOpen()
	clients := between(served, manyTimes*open+unseen, known)
	if n, err := strconv.Atoi(string(r.keys["active-clients"])); err != nil || !clients.has(n) {
		return wrong("active-clients", clients.pattern())
	}
	evicted, err := strconv.ParseUint(string(r.keys["evicted-jobs"]), 10, 64)
	certain, possible := l.evictions()
	least := l.evicted + uint64(max(0, certain-l.possible)) //nolint:gosec // not negative
	lapsed, limited := l.Server.Lapsed(at)
	jobs := between(int(least), lapsed, limited) //nolint:gosec // far below
	if err != nil || !jobs.has(int(evicted)) {   //nolint:gosec // as above
		return wrong("evicted-jobs", jobs.pattern())
	}
	l.evicted, l.possible = evicted, possible
	started, is := timeOf(r.keys["started"])
	_, now, known := l.clock.Between(at, at)
	if !known {
		now = at.Add(24 * time.Hour)
	}
	if !is || started.After(now) || l.started != "" && l.started != string(r.keys["started"]) {
		return wrong("started", cmp.Or(l.started, "time"))
	}
	l.started = string(r.keys["started"])
	return ruling{}
}

// A server may count connections for a while that have ended, and those by which it was asked whether it serves.
const manyTimes, unseen = 2, 20

// bounds are those of a count.
type bounds struct{ least, most int }

// between returns bounds; limited says that most counts.
func between(least, most int, limited bool) bounds {
	if !limited {
		most = math.MaxInt
	}
	return bounds{least, most}
}

func (b bounds) has(n int) bool { return n >= b.least && n <= b.most }

func (b bounds) pattern() string {
	if b.most == math.MaxInt {
		return fmt.Sprintf("int(%d..)", b.least)
	}
	return fmt.Sprintf("int(%d..%d)", b.least, b.most)
}

// lapse returns from when on the time of the job may be over that a command adds.
func (k *call) lapse() time.Time {
	switch k.Verb {
	case workq.Schedule:
		due, _ := workq.Time(k.Time) // the reader has checked it
		return later(due.Add(-skew), k.sent).Add(milliseconds(k.TTL))
	case workq.Run:
		return k.sent.Add(min(milliseconds(k.Wait), milliseconds(k.TTR)))
	}
	return k.sent.Add(milliseconds(k.TTL))
}

// mayAdd records the jobs that bytes may add which are no commands, and returns their keys.
func (l *workqLaw) mayAdd(all []byte, at time.Time) (keys []string) {
	all = bytes.ToLower(all)
	for _, verb := range []string{workq.Add, workq.Schedule, workq.Run} {
		for range bytes.Count(all, []byte(verb)) {
			l.calls++
			keys = append(keys, fmt.Sprint(l.Prefix, "+", l.calls))
			l.Server.Lapses(keys[len(keys)-1], at)
		}
	}
	return keys
}

// evictions counts the jobs whose time to live was over before they had ended: for certain, and at the most.
func (l *workqLaw) evictions() (certain, possible int) {
	for _, j := range l.jobs {
		if j.all(func(c config) bool { return c.evicted }) {
			certain++
		}
		if slices.ContainsFunc(j.configs, func(c config) bool { return c.evicted || c.state == open }) {
			possible++
		}
	}
	return certain, possible
}

// timeOf returns the time of a key.
func timeOf(value json.RawMessage) (at time.Time, is bool) {
	var word string
	if json.Unmarshal(value, &word) != nil {
		return at, false
	}
	at, err := time.Parse(time.RFC3339, word)
	_, offset := at.Zone()
	return at, err == nil && offset == 0 // the document wants UTC, and no Z
}

// listed judges a list of jobs. Whether those that a worker has, and those that have ended, are in it is open.
func (l *workqLaw) listed(k *call, all []record, at time.Time) ruling {
	clause, of := "INSP-06", ready
	if k.Verb == workq.InspectScheduled {
		clause, of = "INSP-09", scheduled
	}
	if uint64(len(all)) > k.Limit {
		return ruling{clause: "INSP-07", rule: "listed", expected: fmt.Sprintf("+OK int(0..%d) ...", k.Limit)}
	}
	jobs, must, may := l.count(k, k.Name(), of) // before the list tells more
	if r := l.entries(k, all, clause, of, at); r.expected != "" {
		return r
	}
	if of == ready {
		may = l.listable(k)
	}
	if r := l.length(k, all, clause, must, may); r.expected != "" {
		return r
	}
	if r := l.iterated(k, all); r.expected != "" {
		return r
	}
	if k.Offset > 0 || uint64(len(all)) == k.Limit {
		return ruling{}
	}
	return unlisted(k, all, clause, of, jobs)
}

// mislisted is the ruling of a job that a list should not show, or should.
func mislisted(clause, what, id string) ruling {
	return ruling{clause: clause, rule: "shown", expected: "+OK int(0..) ...", what: what, job: id}
}

// entries judges the jobs in a list one by one; one that should not be there counts before what is shown of another.
func (l *workqLaw) entries(k *call, all []record, clause string, of state, at time.Time) (found ruling) {
	names := map[string]bool{}
	for _, r := range all {
		j := l.jobs[r.name]
		switch {
		case j == nil && !l.unjudged && l.own(k.Names), j != nil && j.Name() != k.Name() && !j.may(open):
			return mislisted(clause, r.name+" is not a job of this name", r.name)
		case names[r.name]:
			return mislisted(clause, r.name+" is listed twice", r.name)
		case j == nil:
			continue
		}
		names[r.name] = true
		if found.expected == "" {
			found = j.inList(k, r, of, at)
		}
	}
	return found
}

// length judges how many jobs a list has, of those that must and may be in it.
func (l *workqLaw) length(k *call, all []record, clause string, must, may int) ruling {
	least := min(k.Limit, uint64(max(0, must-int(min(k.Offset, 1<<20))))) //nolint:gosec // at most 2^20
	most := min(k.Limit, uint64(max(0, may-int(min(k.Offset, 1<<20)))))   //nolint:gosec // as above
	if n := uint64(len(all)); n >= least && (n <= most || l.unjudged || !l.own(k.Names)) {
		return ruling{}
	}
	if k.Offset > 0 || k.Limit < uint64(may) { //nolint:gosec // not negative
		clause = "INSP-07"
	}
	return ruling{clause: clause, rule: "listed", expected: fmt.Sprintf("+OK int(%d..%d) ...", least, most)}
}

// unlisted judges that a complete list has all jobs that were in a state for certain.
func unlisted(k *call, all []record, clause string, of state, jobs []*job) ruling {
	for _, j := range jobs {
		listed := slices.ContainsFunc(all, func(r record) bool { return r.name == j.ID })
		was := func(c config) bool { return c.state != of || of == ready && !j.leasable(c) }
		if !listed && !slices.ContainsFunc(j.views(k), was) {
			return mislisted(clause, j.ID+" is missing", j.ID)
		}
	}
	return ruling{}
}

// listable counts the jobs that inspect jobs may show.
func (l *workqLaw) listable(k *call) int {
	var jobs []*job
	for _, s := range []state{ready, leased, completed, failed} {
		more, _, _ := l.count(k, k.Name(), s)
		for _, j := range more {
			if !slices.Contains(jobs, j) {
				jobs = append(jobs, j)
			}
		}
	}
	return len(jobs)
}

// inList judges a job in a list of those that are ready, or of those that are scheduled.
func (j *job) inList(k *call, r record, of state, at time.Time) ruling {
	may := func(c config) bool {
		if of == scheduled {
			return c.state == scheduled || c.state == open
		}
		return c.state != scheduled && c.state != deleted && c.state != absent
	}
	views := j.views(k)
	if len(views) == 0 || slices.ContainsFunc(views, may) {
		return j.shown(k, r.all, at)
	}
	wrong := ruling{
		clause: "INSP-08", rule: "shown", expected: "+OK int(0..) ...", what: j.ID + " is listed", job: j.ID,
		timed: views[0].timed,
	}
	switch {
	case views[0].state == deleted && views[0].timed:
		wrong.clause = "ADD-08"
	case views[0].state == deleted:
		wrong.clause = "DEL-02"
	case of == scheduled:
		wrong.clause = "INSP-09"
	}
	return wrong
}
