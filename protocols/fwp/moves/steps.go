package moves

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// build returns what makes the steps of FWP.
func build() explore.Builder { return explore.Builder{Dialect: fwpscript.Dialect{}} }

// line returns a step that sends a line.
func line(conn int, format string, args ...any) explore.Step {
	return build().Line(conn, format, args...)
}

// producer returns a step that opens a connection of a producer.
func producer(conn int) explore.Step { return build().Open(conn, scenarios.Producer, "") }

// consumer returns a step that opens a connection of the worker with a number.
func consumer(conn, worker int) explore.Step {
	return build().Open(conn, scenarios.Consumer, fmt.Sprintf(`{"wid":"$wid%d"}`, worker))
}

// sendAhead returns the step whose answer is not awaited before the next one.
func sendAhead(s explore.Step) explore.Step {
	s.Ahead = true
	return s
}
