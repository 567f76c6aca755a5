package model

import "github.com/fwpsuite/fwp/protocols/fwp"

// Command is the argument of a verb, and the clauses by which a server refuses a malformed one in any state of the
// connection.
type Command struct {
	Malformed string  // for an argument that is not JSON, or stands where there must be none
	NoObject  string  // for JSON that is not an object
	Fields    []Field // in the order of the specification; nil: it is no object
}

// LookupCommand returns what is known of a verb; false for an unknown verb.
func LookupCommand(verb string) (Command, bool) {
	c, ok := commands[verb]
	return c, ok
}

// Fields returns the fields of a verb's JSON object. It returns nil for a verb without an object.
func Fields(verb string) []Field { return commands[verb].Fields }

var commands = map[string]Command{
	fwp.HELLO: {"FWP-HELLO-06", "FWP-HELLO-06", []Field{
		{Name: "v", Type: IntField, Required: true},
		{Name: "pwdhash", Type: StringField, Clause: "FWP-AUTH-07"},
		{Name: "hostname", Type: StringField, Clause: "FWP-HELLO-14", IsWorkerField: true},
		{Name: "wid", Type: StringField, Clause: "FWP-HELLO-14", IsWorkerField: true},
		{Name: "pid", Type: IntField, Clause: "FWP-HELLO-14", IsWorkerField: true},
		{Name: "labels", Type: StringsField, Clause: "FWP-HELLO-14", IsWorkerField: true},
	}},
	fwp.PUSH: {"FWP-PUSH-02", "FWP-WU-00", []Field{
		{Name: "jid", Type: StringField, Clause: "FWP-WU-01", Required: true},
		{Name: "jobtype", Type: StringField, Clause: "FWP-WU-02", Required: true},
		{Name: "args", Type: ArrayField, Clause: "FWP-WU-03", Required: true},
		{Name: "queue", Type: StringField, Clause: "FWP-WU-14"},
		{Name: "reserve_for", Type: IntField, Clause: "FWP-WU-05b", Should: true},
		{Name: "at", Type: TimeOrBlankField, Clause: "FWP-WU-06b"},
		{Name: "retry", Type: IntField, Clause: "FWP-WU-14"},
		{Name: "backtrace", Type: IntField, Clause: "FWP-WU-14"},
		{Name: "created_at", Type: TimeField, Clause: "FWP-WU-14"},
		{Name: "custom", Type: ObjectField, Clause: "FWP-WU-11", Should: true},
		{Name: "enqueued_at", Type: TimeField, ReadOnly: true},
		{Name: "failure", Type: ObjectField, ReadOnly: true},
	}},
	fwp.FETCH: {"FWP-FRAME-03", "", nil},
	fwp.ACK: {"FWP-ACK-03", "FWP-ACK-03", []Field{
		{Name: "jid", Type: StringField, Clause: "FWP-ACK-03", Required: true},
	}},
	fwp.FAIL: {"FWP-FAIL-02", "FWP-FAIL-02", []Field{
		{Name: "jid", Type: StringField, Clause: "FWP-FAIL-02", Required: true},
		{Name: "errtype", Type: StringField, Clause: "FWP-FAIL-02", Required: true, MayBeMissing: true},
		{Name: "message", Type: StringField, Clause: "FWP-FAIL-02", Required: true, MayBeMissing: true},
		{Name: "backtrace", Type: StringsField, Clause: "FWP-FAIL-02", Required: true, MayBeMissing: true},
	}},
	fwp.BEAT: {"FWP-BEAT-02", "FWP-BEAT-02", []Field{
		{Name: "wid", Type: StringField, Clause: "FWP-BEAT-02", Required: true},
		{Name: "current_state", Type: StringField},
		{Name: "rss_kb", Type: IntField},
	}},
	fwp.INFO:  {"FWP-INFO-03", "", nil},
	fwp.FLUSH: {"FWP-FLUSH-03", "", nil},
	fwp.END:   {"FWP-FRAME-03", "", nil},
}
