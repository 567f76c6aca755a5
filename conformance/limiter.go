package conformance

import "github.com/fwpsuite/fwp/scenarios"

// mostConnections is how many connections the checks on one server may have open
// together, as long as it does not refuse any.
const mostConnections = 400

// connLimiter finds out how many connections a server lets in.
type connLimiter struct {
	limit      int  // lowered when the server refuses a connection
	lowered    int  // how often
	refusesAll bool // it refuses a connection even where none is open: that is no limit
}

// lower takes a refusal into account that a check met which began after the limit was
// lowered for the given time. The connections that were open then are what the server
// lets in, or fewer if the check began under the present limit.
func (l *connLimiter) lower(begun int, r *scenarios.Refusal) {
	if begun == l.lowered {
		l.lowered++
		l.limit = l.limit * 3 / 4
	}
	l.limit = max(1, min(l.limit, r.All))
}

// giveUp takes note that a server refuses the only connection there is.
func (l *connLimiter) giveUp() { l.refusesAll, l.limit = true, mostConnections }
