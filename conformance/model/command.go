package model

import "github.com/fwpsuite/fwp/fwp"

// Command holds the clauses by which a server refuses a malformed argument of a verb, in
// any state of the connection. The fields themselves are those of [fwp.Fields].
type Command struct {
	Malformed string // for an argument that is not JSON, or stands where there must be none
	NoObject  string // for JSON that is not an object
	Fields    map[string]Field
}

// Field is how a server treats a wrong value of a field. Values of fields without one are
// left open.
type Field struct {
	Clause   string // for a value of another type, or a required one that is missing
	Optional bool   // a server may take an object without the field, although clients must send it (AMB-35)
	Should   bool   // to refuse it is only recommended, whatever else the clause requires
}

// About returns the clauses about the argument of a verb; false for an unknown verb.
func About(verb string) (Command, bool) {
	c, known := commands[verb]
	return c, known
}

var commands = map[string]Command{
	fwp.HELLO: {"FWP-HELLO-06", "FWP-HELLO-06", map[string]Field{
		"hostname": {Clause: "FWP-HELLO-14"},
		"wid":      {Clause: "FWP-HELLO-14"},
		"pid":      {Clause: "FWP-HELLO-14"},
		"labels":   {Clause: "FWP-HELLO-14"},
		"pwdhash":  {Clause: "FWP-AUTH-07"},
	}},
	fwp.PUSH: {"FWP-PUSH-02", "FWP-WU-00", map[string]Field{
		"jid":         {Clause: "FWP-WU-01"},
		"jobtype":     {Clause: "FWP-WU-02"},
		"args":        {Clause: "FWP-WU-03"},
		"queue":       {Clause: "FWP-WU-14"},
		"reserve_for": {Clause: "FWP-WU-05b", Should: true},
		"at":          {Clause: "FWP-WU-06b"},
		"retry":       {Clause: "FWP-WU-14"},
		"backtrace":   {Clause: "FWP-WU-14"},
		"created_at":  {Clause: "FWP-WU-14"},
		"custom":      {Clause: "FWP-WU-11", Should: true},
	}},
	fwp.FETCH: {"FWP-FRAME-03", "", nil},
	fwp.ACK:   {"FWP-ACK-03", "FWP-ACK-03", map[string]Field{"jid": {Clause: "FWP-ACK-03"}}},
	fwp.FAIL: {"FWP-FAIL-02", "FWP-FAIL-02", map[string]Field{
		"jid":       {Clause: "FWP-FAIL-02"},
		"errtype":   {Clause: "FWP-FAIL-02", Optional: true},
		"message":   {Clause: "FWP-FAIL-02", Optional: true},
		"backtrace": {Clause: "FWP-FAIL-02", Optional: true},
	}},
	fwp.BEAT:  {"FWP-BEAT-02", "FWP-BEAT-02", map[string]Field{"wid": {Clause: "FWP-BEAT-02"}}},
	fwp.INFO:  {"FWP-INFO-03", "", nil},
	fwp.FLUSH: {"FWP-FLUSH-03", "", nil},
	fwp.END:   {"FWP-FRAME-03", "", nil},
}
