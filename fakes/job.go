package fakes

import (
	"encoding/json"
	"math"
	"time"
)

// What the specification gives for omitted fields. (Work units, Optional fields)
const (
	defaultQueue = "default"
	defaultRetry = 25
)

// job is a work unit in the store. It is never changed once it is there, because
// consumers are sent it without a lock: whatever happens to it makes a new one.
type job struct {
	doc       *Object
	jid       string
	queue     string
	at        time.Time // zero: now
	reserve   time.Duration
	retry     int64
	backtrace int
	failures  int
}

// newJob reads what the server needs to know. It refuses nothing, since a hook may
// have let something through: what makes no sense counts as omitted.
func newJob(doc *Object, cfg *Config) *job {
	j := &job{doc: doc, jid: doc.Text("jid"), queue: doc.Text("queue"), retry: defaultRetry, reserve: cfg.DefaultReserve}
	if j.queue == "" {
		j.queue = defaultQueue
	}
	if n, ok := doc.Int("reserve_for"); ok && n > 0 {
		j.reserve = time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
	}
	if n, ok := doc.Int("retry"); ok {
		j.retry = n
	}
	if n, ok := doc.Int("backtrace"); ok {
		j.backtrace = int(max(0, min(n, math.MaxInt32)))
	}
	j.at, _ = asTime(doc.Get("at"))
	return j
}

// fillIn gives a work unit the fields that its producer left out, and takes away
// those that are the server's own. (Work units; a null is a field left out)
func fillIn(doc *Object, cfg *Config, now time.Time) {
	for _, name := range [...]string{"queue", "reserve_for", "at", "retry", "backtrace", "created_at", "custom"} {
		if isNull(doc.Get(name)) {
			doc.Delete(name)
		}
	}
	doc.Delete("enqueued_at")
	doc.Delete("failure")
	setDefault(doc, "queue", quote(defaultQueue))
	setDefault(doc, "reserve_for", itoa(seconds(cfg.DefaultReserve)))
	setDefault(doc, "retry", itoa(defaultRetry))
	setDefault(doc, "created_at", stamp(now))
}

func setDefault(doc *Object, name, value string) {
	if doc.Get(name) == nil {
		doc.Set(name, value)
	}
}

// with is the job with one field changed.
func (j *job) with(name, value string) *job {
	changed := *j
	changed.doc = j.doc.clone()
	changed.doc.Set(name, value)
	return &changed
}

// push takes a work unit in. (PUSH)
func (c *conn) push(e *Event) error {
	doc := e.Object
	if doc == nil {
		return nil // only a hook gets here without one
	}
	fillIn(doc, &c.s.cfg, time.Now())
	c.s.at(Defaulted, e)
	if c.rest(e); e.Skip {
		return nil
	}
	return c.s.store.push(e, newJob(doc, &c.s.cfg))
}

func stamp(t time.Time) string {
	b := make([]byte, 0, len(time.RFC3339Nano)+2)
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, time.RFC3339Nano)
	return string(append(b, '"'))
}

// asTime reads an RFC 3339 time. The text form of time.Time is that and nothing
// more, where time.Parse also takes what only looks like it.
func asTime(raw json.RawMessage) (t time.Time, ok bool) {
	s, ok := asString(raw)
	if !ok || t.UnmarshalText([]byte(s)) != nil {
		return time.Time{}, false
	}
	return t, true
}
