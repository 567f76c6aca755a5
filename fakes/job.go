package fakes

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// What the specification gives for omitted fields. (Work units, Optional fields)
const (
	defaultQueue = "default"
	defaultRetry = 25
)

// job is a work unit in the store. It is not changed there, because it is sent to
// consumers without a lock: a change makes a new one.
type job struct {
	text      []byte  // the work unit as it is delivered; nil if there is a hook
	members   *Object // the same, parsed, for the hook; nil if there is none
	jid       string
	queue     string
	reserve   time.Duration
	retry     int64
	backtrace int
	failures  int
	size      int // bytes that it takes, about
}

// ID returns the jid.
func (j *job) ID() string { return j.jid }

// Queue returns the name of the queue.
func (j *job) Queue() string { return j.queue }

// Reserve returns how long a worker may hold the job.
func (j *job) Reserve() time.Duration { return j.reserve }

// newJob reads the fields that the server needs. It refuses nothing, since a hook may
// have allowed anything: an invalid field counts as omitted.
func newJob(doc *Object, cfg *Config) *job {
	j := &job{jid: doc.Text("jid"), queue: doc.Text("queue"), retry: defaultRetry, reserve: cfg.DefaultReserve}
	j.queue = cmp.Or(j.queue, defaultQueue)
	if n, ok := doc.Int("reserve_for"); ok && n > 0 {
		j.reserve = time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
	}
	if n, ok := doc.Int("retry"); ok {
		j.retry = n
	}
	if n, ok := doc.Int("backtrace"); ok {
		j.backtrace = int(max(0, min(n, math.MaxInt32)))
	}
	j.setUnit(doc, cfg.Hook != nil)
	return j
}

// setUnit sets the job's work unit, which must not be changed from then on.
func (j *job) setUnit(doc *Object, hasHook bool) {
	const itself, member = 300, 64
	if hasHook {
		j.members = doc
	} else {
		j.text = doc.text()
	}
	j.size = itself + len(j.text)
	for _, f := range j.members.Fields() {
		j.size += member + len(f.Name) + len(f.Value)
	}
}

// fillIn adds the fields that the producer left out, and removes those that only the
// server may set. (Work units; a null counts as left out)
func fillIn(doc *Object, cfg *Config, now time.Time) {
	for _, name := range [...]string{"queue", "reserve_for", "at", "retry", "backtrace", "created_at", "custom"} {
		if isNull(doc.Get(name)) {
			doc.Delete(name)
		}
	}
	doc.Delete("enqueued_at")
	doc.Delete("failure")
	if doc.Get("queue") == nil {
		doc.Set("queue", `"`+defaultQueue+`"`)
	}
	if doc.Get("reserve_for") == nil {
		doc.SetInt("reserve_for", seconds(cfg.DefaultReserve))
	}
	if doc.Get("retry") == nil {
		doc.SetInt("retry", defaultRetry)
	}
	if doc.Get("created_at") == nil {
		doc.SetTime("created_at", now)
	}
}

// unit returns a copy of the work unit.
func (j *job) unit() *Object {
	if j.text == nil {
		return j.members.Clone()
	}
	doc, _ := parseObject(j.text)
	return doc
}

// withMember returns the job with one field changed.
func (j *job) withMember(name, value string) *job {
	doc := j.unit()
	doc.Set(name, value)
	clone := *j
	clone.setUnit(doc, j.text == nil)
	return &clone
}

// push stores a work unit. (PUSH)
func (c *conn) push(e *Event) error {
	doc := e.Object
	if doc == nil {
		return nil // only a hook gets here without one
	}
	fillIn(doc, &c.s.cfg, c.s.store.Now())
	c.s.runHooks(Defaulted, e)
	if c.delay(e); e.Skip {
		return nil
	}
	now := c.s.store.Now()
	dueTime, _ := asTime(doc.Get("at"))
	if !dueTime.After(now) {
		dueTime = time.Time{}
		doc.SetTime("enqueued_at", now)
	}
	return refusal(c.s.store.Push(e, newJob(doc, &c.s.cfg), dueTime))
}

func stamp(t time.Time) string { return string(appendStamp(nil, t)) }

func appendStamp(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano)
	return append(dst, '"')
}

// asTime reads an RFC 3339 time.
func asTime(raw json.RawMessage) (time.Time, bool) {
	s, _ := asString(raw)
	t, err := number.ParseTime(s)
	return t, err == nil
}
