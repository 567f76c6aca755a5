package scenarios

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// illegal says what a client breaks with a line in the state of its
// connection, or "". (Client Protocol Sender; Client Lifecycle; Client
// Commands)
func illegal(line []byte, c *linted) string {
	cmd, err := fwp.ParseCommand(line)
	switch {
	case err != nil:
		return err.Error()
	case c.role == Producer && cmd.Verb == fwp.BEAT:
		return "clients that are not consumers must not send BEAT"
	case c.state == fwp.Identified && cmd.Verb == fwp.HELLO:
		return "HELLO is the first command of a connection, and comes once"
	case !c.state.Allows(cmd.Verb):
		return fmt.Sprintf("%s may not be sent while the connection is %s", cmd.Verb, c.state)
	case len(cmd.Args) == 0 || cmd.Verb == fwp.FETCH:
		return ""
	}
	value, err := parseJSON(cmd.Args)
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return "the argument is not a JSON object"
	}
	return map[string]func(map[string]any) string{
		fwp.HELLO: illegalHello, fwp.PUSH: illegalJob, fwp.ACK: illegalAck, fwp.FAIL: illegalFail, fwp.BEAT: illegalBeat,
	}[cmd.Verb](fields)
}

// demand is what a field must be: its type, and whether it must be there.
type demand struct {
	name     string
	kind     string
	required bool
}

// unmet names the first demand that the fields do not meet.
func unmet(fields map[string]any, demands ...demand) string {
	for _, d := range demands {
		v, there := fields[d.name]
		switch {
		case !there && d.required:
			return fmt.Sprintf("the field %q is missing", d.name)
		case !there || v == nil && !d.required:
		case !is(v, d.kind):
			return fmt.Sprintf("the field %q must be of type %s", d.name, d.kind)
		}
	}
	return ""
}

func is(v any, k string) bool {
	switch k {
	case "strings":
		list, ok := v.([]any)
		for _, e := range list {
			ok = ok && is(e, "string")
		}
		return ok
	case "time or blank":
		return v == "" || kind{word: "time"}.matchesTime(v, nil)
	}
	return kind{word: k}.matches(v, nil)
}

func illegalHello(f map[string]any) string {
	if s := unmet(f, demand{"v", "int", true}, demand{"pwdhash", "string", false}); s != "" {
		return s
	}
	if f["v"] != json.Number("2") {
		return "v is always 2"
	}
	var consumer bool
	for _, name := range []string{"hostname", "wid", "pid", "labels"} {
		_, there := f[name]
		consumer = consumer || there
	}
	if !consumer {
		return ""
	}
	return unmet(f, demand{"hostname", "string", true}, demand{"wid", "string", true},
		demand{"pid", "int", true}, demand{"labels", "strings", true})
}

func illegalJob(f map[string]any) string {
	if s := unmet(f, demand{"jid", "string", true}, demand{"jobtype", "string", true}, demand{"args", "array", true},
		demand{"queue", "string", false}, demand{"reserve_for", "int", false}, demand{"at", "time or blank", false},
		demand{"retry", "int", false}, demand{"backtrace", "int", false}, demand{"created_at", "time", false},
		demand{"custom", "object", false}); s != "" {
		return s
	}
	for _, readOnly := range []string{"enqueued_at", "failure"} {
		if _, there := f[readOnly]; there {
			return fmt.Sprintf("the field %q is read-only", readOnly)
		}
	}
	if q, ok := f["queue"].(string); ok && (q == "" || strings.ContainsAny(q, " \t\r\n")) {
		return "a queue name is one word"
	}
	if n, ok := f["reserve_for"].(json.Number); ok && !(kind{word: "int", lo: &bound{number: "60"}}).matches(n, nil) {
		return "reserve_for is at least 60"
	}
	return ""
}

func illegalAck(f map[string]any) string {
	if len(f) > 1 {
		return "ACK has the single field jid"
	}
	return unmet(f, demand{"jid", "string", true})
}

func illegalFail(f map[string]any) string {
	return unmet(f, demand{"jid", "string", true}, demand{"errtype", "string", true},
		demand{"message", "string", true}, demand{"backtrace", "strings", true})
}

func illegalBeat(f map[string]any) string {
	if s := unmet(f, demand{"wid", "string", true}, demand{"current_state", "string", false}, demand{"rss_kb", "int", false}); s != "" {
		return s
	}
	if v, ok := f["current_state"]; ok && v != "quiet" && v != "terminate" {
		return `current_state is "quiet" or "terminate"`
	}
	return ""
}

// queuesOf lists the queue names in a client line.
func queuesOf(line []byte) []string {
	cmd := fwp.SplitCommand(line)
	switch cmd.Verb {
	case fwp.FETCH:
		return strings.Fields(string(cmd.Args))
	case fwp.PUSH:
		value, _ := parseJSON(cmd.Args) // legality has been checked
		fields, _ := value.(map[string]any)
		if q, ok := fields["queue"].(string); ok {
			return []string{q}
		}
	}
	return nil
}

// jidOf is the jid in a client line.
func jidOf(line []byte) (string, bool) {
	cmd := fwp.SplitCommand(line)
	if cmd.Verb != fwp.PUSH && cmd.Verb != fwp.ACK && cmd.Verb != fwp.FAIL {
		return "", false
	}
	value, _ := parseJSON(cmd.Args) // legality has been checked
	fields, _ := value.(map[string]any)
	jid, ok := fields["jid"].(string)
	return jid, ok
}
