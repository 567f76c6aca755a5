package moves

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// hello returns the HELLO of a connection that greets by itself.
func hello(c *scenarios.Connect, protected bool) string {
	return introduction(c.Role, widOf(c), protected)
}

// introduction returns the HELLO of a client in a role.
func introduction(role scenarios.Role, wid string, protected bool) string {
	text := `"v":2}`
	if protected {
		text = `"pwdhash":"$pwdhash",` + text
	}
	if role == scenarios.Consumer {
		text = fmt.Sprintf(`"hostname":"fwpcheck","wid":"%s","pid":4711,"labels":["fwpcheck"],`, wid) + text
	}
	return fwp.HELLO + " {" + text
}

// workerFields returns the fields with which a script's connection is of the worker of a hello.
func workerFields(c *scenarios.Connect) string {
	return fmt.Sprintf(`{"wid":"%s","pid":4711}`, widOf(c))
}

// widOf returns the worker id of a connection as it is written, $wid if it has none of its own.
func widOf(c *scenarios.Connect) string {
	if c.Hello != nil {
		for _, f := range members(fwp.HELLO + " " + c.Hello.String()) {
			if f.name == "wid" {
				return strings.Trim(f.value, `"`)
			}
		}
	}
	return "$wid"
}

// livenessBeat returns a BEAT of a worker, whose connection the server has to keep open.
func livenessBeat(rule string, c *scenarios.Connect) string {
	if rule != explore.RuleClosed || c.Role != scenarios.Consumer {
		return ""
	}
	return fmt.Sprintf(`BEAT {"wid":"%s"}`, widOf(c))
}

// ruling returns the level at which scripts judge a clause, and what they need of the
// server. What the catalogue only notes of a HELLO is judged.
func ruling(clause, level string) (string, []scenarios.Need) {
	switch {
	case clause == "FWP-HELLO-05", clause == "FWP-HELLO-07", clause == "FWP-HELLO-08":
		level = "plain"
	case strings.HasPrefix(clause, "FWP-AUTH"):
		return level, []scenarios.Need{scenarios.NeedPassword}
	}
	return level, nil
}
