package workqsubject

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/workqsession"
	"github.com/fwpsuite/fwp/workq"
)

// inspected judges what inspect shows.
func (l *workqLaw) inspected(c workq.Command, m session.Message) ruling {
	if m.Kind != workqsession.OK {
		r := ruling{clause: "INSP-01", expected: "+OK 1 ...", rule: "inspect"}
		if len(c.Names) > 0 && len(l.inQueue(c.Name(), ready))+len(l.inQueue(c.Name(), scheduled)) == 0 {
			return ruling{} // whether there is an empty queue is open
		}
		switch r.clause = clauses[c.Verb]; c.Verb {
		case workq.InspectJobs:
			r.expected = fmt.Sprintf("+OK %d ...", len(l.inQueue(c.Name(), ready)))
		case workq.InspectScheduled:
			r.expected = fmt.Sprintf("+OK %d ...", len(l.inQueue(c.Name(), scheduled)))
		case workq.InspectQueues:
			return ruling{} // how many queues others have is not known
		}
		return r
	}
	switch c.Verb {
	case workq.InspectJob:
		return l.jobs[c.ID].shown(m)
	case workq.InspectQueue:
		want := fmt.Sprintf(`{"ready-len":%d,"scheduled-len":%d}`,
			len(l.inQueue(c.Name(), ready)), len(l.inQueue(c.Name(), scheduled)))
		return ruling{
			clause: "INSP-10", expected: "+OK 1 " + c.Name() + " int(2..) " + want, fits: has(m.Parts[3], want),
		}
	case workq.InspectJobs:
		return listed(c, m, "INSP-06", l.inQueue(c.Name(), ready), l.inQueue(c.Name(), scheduled))
	case workq.InspectScheduled:
		return listed(c, m, "INSP-09", l.inQueue(c.Name(), scheduled), l.inQueue(c.Name(), ready))
	}
	return ruling{}
}

// listed judges a list of jobs: all of some are in it, unless the limit is less, and none of others. Whether those that
// a worker has are in it is open.
func listed(c workq.Command, m session.Message, clause string, all, none []*job) ruling {
	seen := map[string]bool{}
	for i := 1; i < len(m.Parts); i += 3 {
		seen[string(m.Parts[i])] = true
	}
	r := ruling{clause: clause, expected: fmt.Sprintf("+OK %d ...", len(all)), fits: true}
	for _, j := range all {
		r.fits = r.fits && (seen[j.ID] || uint64(len(all)) > c.Limit)
	}
	for _, j := range none {
		if seen[j.ID] {
			r.fits, r.clause = false, "INSP-08"
		}
	}
	return r
}

// shown judges the keys of a job, group by group.
func (j *job) shown(m session.Message) ruling {
	number := map[state]int{ready: 0, leased: 4, completed: 1, failed: 2, scheduled: 0}[j.state]
	if j.state == ready && j.attempts > 0 {
		number = 3
	}
	added := fmt.Sprintf(`"ttr":%d,"ttl":%d,"payload-size":%d,"priority":%d`, j.TTR, j.TTL, len(j.Block), j.Priority)
	if j.MaxAttempts > 0 {
		added += fmt.Sprintf(`,"max-attempts":%d`, j.MaxAttempts)
	}
	if j.MaxFails > 0 {
		added += fmt.Sprintf(`,"max-fails":%d`, j.MaxFails)
	}
	for _, group := range []struct{ clause, want string }{
		{"INSP-01", fmt.Sprintf(`{"name":%q}`, j.Name())},
		{"INSP-02", "{" + added + "}"},
		{"INSP-03", fmt.Sprintf(`{"attempts":%d,"fails":%d}`, j.attempts, j.fails)},
		{"INSP-04", fmt.Sprintf(`{"state":%d}`, number)},
	} {
		if !has(m.Parts[3], group.want) {
			return ruling{clause: group.clause, expected: "+OK 1 " + j.ID + " int(1..) " + group.want}
		}
	}
	return ruling{}
}

// has reports whether a JSON object has the keys of another one, with equal values.
func has(object []byte, want string) bool {
	var got, wanted map[string]json.RawMessage
	if json.Unmarshal(object, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
		return false
	}
	for key, value := range wanted {
		if !bytes.Equal(got[key], value) {
			return false
		}
	}
	return true
}
