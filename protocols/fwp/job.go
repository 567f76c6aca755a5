package fwp

import (
	"encoding/json"
	"fmt"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// Job is a work unit. Its JSON is exact: no number is converted to a float, so that
// 9007199254740993 is kept, keys are case-sensitive, and fields that the specification
// does not define are kept.
//
// The zero value of an optional field means that it is omitted, which is also how a
// null is read. (Work units)
type Job struct {
	// JID is the job's globally unique id. The specification gives it no length;
	// servers in use refuse short ones, so 16 characters or more are wise.
	JID string
	// Type is the kind of work for the worker: the field jobtype.
	Type string
	// Args is a JSON array, byte for byte as it was read. Nil is written as [].
	Args json.RawMessage

	// Queue is where the job is pushed to; "default" when omitted.
	Queue string
	// ReserveFor is how many seconds a worker may hold the job: 60 or more,
	// 1800 when omitted.
	ReserveFor *int64
	// At is the RFC 3339 time at which the job is to run; at once when omitted.
	At string
	// Retry is how often the job is retried: 25 when omitted, 0 discards the
	// failed job, -1 makes it dead.
	Retry *int64
	// Backtrace is how many lines of a FAIL's backtrace are kept; 0 when omitted.
	Backtrace *int64
	// CreatedAt is an RFC 3339 time, set by the server when omitted.
	CreatedAt string
	// Custom is a JSON object for the worker.
	Custom json.RawMessage

	// EnqueuedAt is the RFC 3339 time of the latest enqueueing, set by the server.
	EnqueuedAt string
	// Failure is a JSON object about the latest failure, set by the server.
	Failure json.RawMessage

	// Extra holds all other fields by name, as they were read. A name of the fields
	// above is an error when the job is written.
	Extra map[string]json.RawMessage
}

// UnmarshalJSON replaces the whole of j by the work unit in data. It fails, naming
// the field, on a value of the wrong type, which for jid, jobtype and args includes
// null, and on a key that occurs twice; j is then unchanged. A required field that
// is absent is left at its zero value. (Work units)
func (j *Job) UnmarshalJSON(data []byte) error {
	all, err := members(data)
	if err != nil {
		return fmt.Errorf("work unit: %w", err)
	}
	var job Job
	for _, f := range job.fields() {
		raw, found := all[f.name]
		delete(all, f.name)
		if !found || isNull(raw) && !f.isRequired {
			continue
		}
		if err := f.set(raw); err != nil {
			return fmt.Errorf("work unit: %s: %w", f.name, err)
		}
	}
	if len(all) > 0 {
		job.Extra = all
	}
	*j = job
	return nil
}

// MarshalJSON writes the job as one line: jid, jobtype and args always, the other
// fields unless they are zero, Extra last and sorted by name. White space in the
// raw fields is dropped and everything else in them kept. It fails, naming the
// field, if a string is not UTF-8 or a raw field is not JSON of its type. Note that
// json.Marshal adds HTML escapes to the result of MarshalJSON, which changes the bytes
// but not the value. (Work units)
func (j Job) MarshalJSON() ([]byte, error) {
	fields := j.fields()
	extra, err := extraFields(j.Extra, fields)
	if err != nil {
		return nil, fmt.Errorf("work unit: %w", err)
	}
	out := []byte{'{'}
	for _, f := range append(fields, extra...) {
		if f.isOmitted() {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = f.append(out); err != nil {
			return nil, fmt.Errorf("work unit: %s: %w", f.name, err)
		}
	}
	return append(out, '}'), nil
}

// fields lists the fields of the specification's tables, in their order.
func (j *Job) fields() []jobField {
	return []jobField{
		{name: "jid", isRequired: true, text: &j.JID},
		{name: "jobtype", isRequired: true, text: &j.Type},
		{name: "args", isRequired: true, raw: &j.Args, firstByte: '['},
		{name: "queue", text: &j.Queue},
		{name: "reserve_for", number: &j.ReserveFor},
		{name: "at", text: &j.At},
		{name: "retry", number: &j.Retry},
		{name: "backtrace", number: &j.Backtrace},
		{name: "created_at", text: &j.CreatedAt},
		{name: "custom", raw: &j.Custom, firstByte: '{'},
		{name: "enqueued_at", text: &j.EnqueuedAt},
		{name: "failure", raw: &j.Failure, firstByte: '{'},
	}
}

// JIDOf returns the jid of a work unit, or of the argument of an ACK or a FAIL, and "" if it has none that is a string.
func JIDOf(object []byte) string {
	jid, _ := number.Object(object)["jid"].(string)
	return jid
}
