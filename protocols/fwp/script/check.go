package script

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Check returns the rule that a client breaks with a line in the state of its
// connection, or advice about names that some servers refuse. (Client Protocol Sender; Client
// Lifecycle; Client Commands)
func (d Dialect) Check(role scenarios.Role, s session.State, line []byte) (bug string, advice []scenarios.Advice) {
	if bug = d.Extension.check(role, s.(*fwpsession.State).Conn(), line); bug == "" {
		advice = nameAdvice(line)
	}
	return bug, advice
}

// check returns the rule that a client with the extension breaks with a line.
func (p Extension) check(role scenarios.Role, state fwp.State, line []byte) string {
	if p.Has(fwp.SplitCommand(line).Verb) {
		return p.illegal(state, line)
	}
	cmd, err := fwp.ParseCommand(line)
	switch {
	case err != nil:
		return err.Error()
	case role == scenarios.Producer && cmd.Verb == fwp.BEAT:
		return "only consumers may send BEAT"
	case state == fwp.Identified && cmd.Verb == fwp.HELLO:
		return "HELLO must be the first command of a connection, and the only HELLO"
	case !state.Allows(cmd.Verb):
		return fmt.Sprintf("%s must not be sent while the connection is %s", cmd.Verb, state)
	case len(cmd.Args) == 0 || cmd.Verb == fwp.FETCH:
		return ""
	}
	fields := number.Object(cmd.Args)
	if fields == nil {
		return "the argument is not a JSON object"
	}
	if _, ok := fields["v"]; p == Faktory && cmd.Verb == fwp.HELLO && !ok {
		return "" // of clients older than v, which it lets in
	}
	if s := brokenField(cmd.Verb, fields); s != "" {
		return s
	}
	return illegalFields(cmd.Verb, fields)
}

// illegalFields returns the rule that the fields of a command break, beside those of each
// field alone.
func illegalFields(verb string, fields map[string]any) string {
	switch verb {
	case fwp.HELLO:
		if fields["v"] != json.Number("2") {
			return "v must be 2"
		}
	case fwp.PUSH:
		return illegalJob(fields)
	case fwp.ACK:
		if len(fields) > 1 {
			return "ACK must have the single field jid"
		}
	case fwp.BEAT:
		if v, ok := fields["current_state"]; ok && v != "quiet" && v != "terminate" {
			return `current_state must be "quiet" or "terminate"`
		}
	}
	return ""
}

// brokenField returns the first field that is missing, of another type, or read-only.
func brokenField(verb string, fields map[string]any) string {
	_, isWorker := fields["wid"] // without it a client is no consumer, whatever else it sends
	for _, f := range model.Fields(verb) {
		v, isPresent := fields[f.Name]
		isRequired := f.Required || f.IsWorkerField && isWorker
		switch {
		case isPresent && f.ReadOnly:
			return fmt.Sprintf("the field %q is read-only", f.Name)
		case !isPresent && isRequired:
			return fmt.Sprintf("the field %q is missing", f.Name)
		case !isPresent || v == nil && !isRequired:
		case !f.Type.Accepts(v):
			return fmt.Sprintf("the field %q must be of type %s", f.Name, f.Type)
		}
	}
	return ""
}

func illegalJob(f map[string]any) string {
	if q, ok := f["queue"].(string); ok && (q == "" || strings.ContainsAny(q, " \t\r\n")) {
		return "a queue name must be one word"
	}
	if n, ok := f["reserve_for"].(json.Number); ok {
		if value, ok := number.Rational(n); !ok || value.Cmp(big.NewRat(60, 1)) < 0 {
			return "reserve_for must be at least 60"
		}
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
		fields := number.Object(cmd.Args) // legality has been checked
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
	fields := number.Object(cmd.Args) // legality has been checked
	jid, ok := fields["jid"].(string)
	return jid, ok
}

var plainQueue = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// nameAdvice returns advice about names that some servers refuse.
func nameAdvice(line []byte) (all []scenarios.Advice) {
	for _, name := range queuesOf(line) {
		if !plainQueue.MatchString(name) {
			all = append(all, scenarios.Advice{
				Message: fmt.Sprintf("the queue name %q has other characters than letters, digits, - and _", name),
				Help:    "use such a name; $queue makes a fresh one",
			})
		}
	}
	if jid, ok := jidOf(line); ok && len([]rune(jid)) < 16 {
		all = append(all, scenarios.Advice{
			Message: fmt.Sprintf("the jid %q has fewer than 16 characters, which some servers refuse", jid),
			Help:    "$jid makes a fresh one",
		})
	}
	return all
}
