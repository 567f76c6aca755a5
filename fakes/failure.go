package fakes

import (
	"cmp"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes/store"
)

// failure is what a worker reports about a job, or the server when a reservation ran out.
// (FAIL)
type failure struct {
	errtype, message string
	backtrace        []string
}

// checkFailure checks the argument of a FAIL. Only jid is required; other fields, if
// present, must have the right type.
func checkFailure(o *Object) *Refusal {
	return cmp.Or(check(o, isAny, text, "jid"), check(o, isNonNull, text, "errtype", "message"),
		check(o, isNonNull, texts, "backtrace"))
}

func newFailure(o *Object) failure {
	lines, _ := asStrings(o.Get("backtrace"))
	return failure{errtype: o.Text("errtype"), message: o.Text("message"), backtrace: lines}
}

// fate returns what becomes of a job with the failure. (FAIL; Work units, retry; Work unit
// state diagram)
func (f failure) fate(cfg *Config) store.Fate[*job] {
	return func(j *job, now time.Time) (*job, store.Set, time.Time) {
		failures := j.failures + 1
		dueTime, set := now.Add(max(cfg.delay(j.jid, failures), time.Second)), setOfFailure(j.retry, failures)
		failedJob := j.withMember("failure", f.json(j, failures, now, set, dueTime, cfg))
		failedJob.failures = failures
		return failedJob, set, dueTime
	}
}

// setOfFailure returns the set that a job goes to after that many failures. A retry below -1,
// which the specification does not define, counts as -1.
func setOfFailure(retry int64, failures int) store.Set {
	switch {
	case retry == 0:
		return store.Nowhere
	case retry < 0 || int64(failures) > retry:
		return store.Dead
	}
	return store.Retries
}

// json returns the failure member of the job, cut to what the job and the server keep.
// (Work units, backtrace; the guide's Report Result)
func (f failure) json(j *job, failures int, now time.Time, set store.Set, until time.Time, cfg *Config) string {
	o := &Object{}
	o.SetText("errtype", f.errtype)
	o.SetText("message", cut(f.message, cfg.MaxMessage))
	if n := min(len(f.backtrace), j.backtrace, cfg.MaxBacktrace); n > 0 {
		lines := []byte{'['}
		for i, line := range f.backtrace[:n] {
			if i > 0 {
				lines = append(lines, ',')
			}
			lines = appendQuoted(lines, line)
		}
		o.Set("backtrace", string(append(lines, ']')))
	}
	o.Set("failed_at", stamp(now))
	o.Set("failures", itoa(int64(failures)))
	if set == store.Retries {
		o.Set("retry_at", stamp(until))
	}
	return string(o.Append(nil))
}

// cut shortens a text to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// asStrings returns the strings of an array, and whether it holds strings only:
// encoding/json would decode a null as an empty string.
func asStrings(raw json.RawMessage) ([]string, bool) {
	var items []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, false
	}
	texts := make([]string, len(items))
	for i, item := range items {
		var ok bool
		if texts[i], ok = asString(item); !ok {
			return nil, false
		}
	}
	return texts, true
}
