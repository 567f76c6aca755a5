package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// judgeKeys judges the keys of a job, group by group.
func (j *job) judgeKeys(k *call, all []byte, at time.Time) ruling {
	var keys map[string]json.RawMessage
	var payload string
	_ = json.Unmarshal(all, &keys) // the session has written it
	_ = json.Unmarshal([]byte(cmp.Or(string(keys["payload"]), string(keys["payload-bytes"]))), &payload)
	wrong := func(clause, key, want string) ruling {
		switch {
		case j.isSecond([]byte(payload)):
			clause = "ADD-03"
		case clause == "INSP-02" && keys[key] == nil:
			clause = "INSP-01"
		}
		return ruling{
			clause: clause, rule: "field", job: j.ID, expected: fmt.Sprintf("+OK 1 %s int(1..) {%q:%s}", j.ID, key, want),
			got: key + ": " + cmp.Or(string(keys[key]), "nothing"),
		}
	}
	if len(j.views(k)) == 0 || !slices.ContainsFunc(j.views(k), func(c possibleState) bool { return c.state != unknown }) {
		return ruling{}
	}
	for _, want := range j.constants() {
		if got, ok := keys[want.key]; !bytes.Equal(got, []byte(want.value)) && (ok || !want.isOptional) {
			return wrong(want.clause, want.key, want.value)
		}
	}
	if r := j.judgeTimes(k, keys, wrong, at); r.expected != "" {
		return r
	}
	return j.judgeCounters(k, keys, wrong)
}

// judgeCounters judges the keys that change while the job lives, and follows them.
func (j *job) judgeCounters(k *call, keys map[string]json.RawMessage, wrong keyRuling) ruling {
	j.narrow(k, workqsession.OK, func(c *possibleState) bool { return c.exists() })
	views := j.views(k)
	number := func(c possibleState, key string) string {
		return map[string]string{
			"attempts": strconv.FormatUint(c.attempts, 10), "fails": strconv.FormatUint(c.fails, 10), "state": stateNumber(c),
		}[key]
	}
	for _, key := range []string{"attempts", "fails", "state"} {
		fits := func(c *possibleState) bool { return number(*c, key) == string(keys[key]) }
		if !j.narrow(k, workqsession.OK, fits) {
			clause := "INSP-03"
			if key == "state" {
				clause = "INSP-04"
			}
			r := wrong(clause, key, number(views[len(views)-1], key))
			r.isTimed = slices.ContainsFunc(views, func(c possibleState) bool { return c.isTimed })
			j.unjudge() // it may be as it is shown
			return r
		}
		views = j.views(k)
	}
	return ruling{}
}

// constant is a key that has one value as long as the job lives.
type constant struct {
	clause, key, value string
	isOptional         bool
}

// constants are those of a job. The list of keys has payload-bytes, the examples payload. What stands for a limit that
// was not given is open.
func (j *job) constants() []constant {
	number := func(key string, n uint64) constant {
		return constant{"INSP-02", key, strconv.FormatUint(n, 10), false}
	}
	payload, _ := json.Marshal(string(j.Block)) // strings can always be written
	all := []constant{
		{"INSP-01", "name", strconv.Quote(j.Name()), false}, {"INSP-01", "id", strconv.Quote(j.ID), true},
		number("ttr", j.TTR), {"INSP-02", "priority", strconv.FormatInt(j.Priority, 10), false},
		number("payload-size", uint64(len(j.Block))),
		{"INSP-02", "payload", string(payload), true}, {"INSP-02", "payload-bytes", string(payload), true},
	}
	if j.Verb != workq.Run {
		all = append(all, number("ttl", j.TTL))
	}
	if j.MaxAttempts > 0 {
		all = append(all, number("max-attempts", j.MaxAttempts))
	}
	if j.MaxFails > 0 {
		all = append(all, number("max-fails", j.MaxFails))
	}
	return all
}

// keyRuling returns a ruling of a key that does not have the value that it should have.
type keyRuling func(clause, key, want string) ruling

// maxClockError is less than any time zone is from UTC. A clock that is as far from ours is another bug, since
// scheduled jobs come at a wrong time by it.
const maxClockError = 14 * time.Minute

// judgeTimes judges when a job was created, and when it is due. Clocks may differ by less than a zone, but a time does
// not change.
func (j *job) judgeTimes(k *call, keys map[string]json.RawMessage, wrong keyRuling, at time.Time) ruling {
	created := string(keys["created"])
	if t, ok := timeOf(keys["created"]); !ok || t.Sub(at).Abs() > maxClockError+at.Sub(j.sentAt) {
		return wrong("INSP-02", "created", "time")
	}
	if j.createdAt != "" && j.createdAt != created {
		return wrong("INSP-02", "created", j.createdAt)
	}
	end := j.answeredAt
	if end.IsZero() {
		end = at
	}
	if t, _ := timeOf(keys["created"]); j.createdAt == "" && !j.clock.Agrees(t, j.sentAt, end) {
		from, to, _ := j.clock.Between(j.sentAt, end)
		want := fmt.Sprintf("time(%s..%s)", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
		return wrong("INSP-02", "created", want)
	}
	j.createdAt = created
	if j.Verb != workq.Schedule {
		return ruling{}
	}
	dueTime, _ := workq.Time(j.Time) // the reader has checked it
	if t, ok := timeOf(keys["time"]); !ok || t.Sub(dueTime).Abs() >= time.Second {
		clause := "INSP-02"
		if k.Verb == workq.InspectScheduled {
			clause = "INSP-09"
		}
		return wrong(clause, "time", strconv.Quote(j.Time))
	}
	return ruling{}
}

// stateNumber is the state as inspect shows it.
func stateNumber(c possibleState) string {
	if c.state == ready && c.attempts > 0 {
		return "3"
	}
	return map[state]string{ready: "0", scheduled: "0", leased: "4", completed: "1", failed: "2"}[c.state]
}
