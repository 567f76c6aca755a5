package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	defaultQueue   = "default"
	defaultRetry   = 25
	defaultReserve = 1800
	leastReserve   = 60
	mostReserve    = 10 * 365 * 24 * 3600
)

// A job is a work unit with what the server knows about it.
type job struct {
	id      int64 // the journal's name for it
	fields  hash  // as pushed
	jid     string
	queue   string
	retry   int64
	keep    int64 // lines of backtrace
	reserve time.Duration

	state    string
	created  string
	enqueued time.Time
	due      time.Time // when scheduled or waiting for a retry
	deadline time.Time // when working
	fails    int64
	failure  *failure
	holder   *conn
}

// A failure is what the last FAIL or the last expiry left.
type failure struct {
	Type      string    `json:"errtype"`
	Message   string    `json:"message"`
	Backtrace []string  `json:"backtrace,omitempty"`
	At        time.Time `json:"failed_at"`
	Count     int64     `json:"retry_count"`
}

// errLate marks the fault in a field that is looked at last.
var errLate = errors.New("field at the end")

// newJob checks a work unit.
func (c *conn) newJob(fields hash) (*job, error) {
	j := &job{fields: fields}
	for _, check := range []func(*job) error{
		c.required, c.routing, c.limits, c.times, c.extras,
	} {
		if err := check(j); err != nil {
			return j, err
		}
	}
	return j, nil
}

func (c *conn) required(j *job) error {
	jid, hasJid, err := j.fields.text("jid")
	if err != nil || !hasJid || jid == "" {
		return fmt.Errorf("jid must be a string")
	}
	jobtype, hasType, err := j.fields.text("jobtype")
	if err != nil || !hasType || jobtype == "" {
		return fmt.Errorf("jobtype must be a string")
	}
	if args, ok := j.fields.get("args"); !ok || args[0] != '[' {
		return fmt.Errorf("args must be an array")
	}
	j.jid = jid
	return nil
}

func (c *conn) routing(j *job) error {
	queue, present, err := j.fields.text("queue")
	if err != nil {
		return err
	}
	if !present {
		queue = defaultQueue
		if before, ok := c.carried["queue"]; ok && c.s.mutant == 52 {
			j.fields["queue"] = before
			queue, _, _ = j.fields.text("queue")
		}
	}
	if queue == "" || strings.ContainsFunc(queue, noQueueLetter) {
		return fmt.Errorf("queue must be one word")
	}
	j.queue = queue
	return nil
}

// noQueueLetter tells what no FETCH could ask for; half a surrogate pair reads as the rune error.
func noQueueLetter(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }

func (c *conn) limits(j *job) (err error) {
	before, carried := c.carried["retry"]
	if _, given := j.fields.get("retry"); !given && carried && c.s.mutant == 51 {
		j.fields["retry"] = before
	}
	retry, hasRetry, err := j.fields.integer("retry")
	if err != nil {
		return err
	}
	if retry < -1 {
		return fmt.Errorf("retry must be -1 or more")
	}
	if !hasRetry || (retry == 0 && c.s.mutant == 53) {
		retry = defaultRetry
	}
	j.retry = retry
	return c.reservation(j)
}

func (c *conn) reservation(j *job) error {
	reserve, present, err := j.fields.integer("reserve_for")
	if err != nil {
		return err
	}
	short := present && reserve < leastReserve
	switch {
	case !present:
		reserve = defaultReserve
	case short && c.s.variant == 26:
		reserve = leastReserve
	case short && c.s.mutant == 49 && reserve > 0:
	case short:
		return fmt.Errorf("reserve_for must be %d or more", leastReserve)
	}
	j.reserve = time.Duration(min(reserve, mostReserve)) * time.Second
	return nil
}

func (c *conn) times(j *job) error {
	at, present, err := j.fields.text("at")
	if err != nil {
		return err
	}
	if present && at != "" {
		if j.due, err = c.s.parseTime(at); err != nil {
			return fmt.Errorf("at must be a time as in RFC 3339")
		}
	}
	created, present, err := j.fields.text("created_at")
	if err != nil {
		return err
	}
	if _, err := parseRFC3339(created); present && err != nil {
		return fmt.Errorf("created_at must be a time as in RFC 3339")
	}
	return nil
}

func (c *conn) extras(j *job) error {
	keep, _, err := j.fields.integer("backtrace")
	if err != nil || keep < 0 {
		return fmt.Errorf("%w: backtrace must be an integer of 0 or more", errLate)
	}
	j.keep = keep
	if custom, ok := j.fields.get("custom"); ok && custom[0] != '{' {
		return fmt.Errorf("%w: custom must be a hash", errLate)
	}
	return nil
}

// parseTime reads the `at` of a job.
func (s *server) parseTime(text string) (time.Time, error) {
	at, err := parseRFC3339(text)
	if err == nil && s.mutant == 37 {
		_, offset := at.Zone()
		at = at.Add(time.Duration(offset) * time.Second)
	}
	return at, err
}

var timeText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// parseRFC3339 is stricter than the standard library, but it also takes small letters and leap
// seconds, as the RFC does.
func parseRFC3339(text string) (time.Time, error) {
	text = strings.ToUpper(text)
	if !timeText.MatchString(text) {
		return time.Time{}, fmt.Errorf("not a time: %q", text)
	}
	if len(text) > 19 && text[16:19] == ":60" {
		text = text[:16] + ":59" + text[19:]
	}
	return time.Parse(time.RFC3339Nano, text)
}
