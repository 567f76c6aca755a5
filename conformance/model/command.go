package model

import "github.com/fwpsuite/fwp/fwp"

// Command is what the text says of a verb, whatever the state.
type Command struct {
	Malformed string  // the clause by which an argument that is none is refused
	NoObject  string  // the clause by which JSON is refused that is no object
	Fields    []Field // of the object
}

// Field is a row of the specification's tables.
type Field struct {
	Name, Kind string // Kind: string, int, array, strings, object, time
	Required   bool
	Clause     string // for a value that is missing or of another type
	Should     bool   // to refuse it is only recommended, whatever else the clause requires
}

// About tells what the text says of a verb; false if it is none.
func About(verb string) (Command, bool) {
	c, known := commands[verb]
	return c, known
}

var commands = map[string]Command{
	fwp.HELLO: {"FWP-HELLO-06", "FWP-HELLO-06", []Field{
		{"hostname", "string", false, "FWP-HELLO-14", false},
		{"wid", "string", false, "FWP-HELLO-14", false},
		{"pid", "int", false, "FWP-HELLO-14", false},
		{"labels", "strings", false, "FWP-HELLO-14", false},
		{"pwdhash", "string", false, "FWP-AUTH-07", false},
	}},
	fwp.PUSH: {"FWP-PUSH-02", "FWP-WU-00", []Field{
		{"jid", "string", true, "FWP-WU-01", false},
		{"jobtype", "string", true, "FWP-WU-02", false},
		{"args", "array", true, "FWP-WU-03", false},
		{"queue", "string", false, "FWP-WU-14", false},
		{"reserve_for", "int", false, "FWP-WU-05b", true},
		{"at", "time", false, "FWP-WU-06b", false},
		{"retry", "int", false, "FWP-WU-14", false},
		{"backtrace", "int", false, "FWP-WU-14", false},
		{"created_at", "time", false, "FWP-WU-14", false},
		{"custom", "object", false, "FWP-WU-11", true},
	}},
	fwp.FETCH: {"FWP-FRAME-03", "", nil},
	fwp.ACK:   {"FWP-ACK-03", "FWP-ACK-03", []Field{{"jid", "string", true, "FWP-ACK-03", false}}},
	fwp.FAIL: {"FWP-FAIL-02", "FWP-FAIL-02", []Field{
		{"jid", "string", true, "FWP-FAIL-02", false},
		{"errtype", "string", false, "FWP-FAIL-02", false},
		{"message", "string", false, "FWP-FAIL-02", false},
		{"backtrace", "strings", false, "FWP-FAIL-02", false},
	}},
	fwp.BEAT:  {"FWP-BEAT-02", "FWP-BEAT-02", []Field{{"wid", "string", true, "FWP-BEAT-02", false}}},
	fwp.INFO:  {"FWP-INFO-03", "", nil},
	fwp.FLUSH: {"FWP-FLUSH-03", "", nil},
	fwp.END:   {"FWP-FRAME-03", "", nil},
}
