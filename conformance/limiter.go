package conformance

import "github.com/fwpsuite/fwp/scenarios"

// mostConnections is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const mostConnections = 400

// connLimiter finds out how many connections a server accepts.
type connLimiter struct {
	limit      int  // lowered when the server refuses a connection
	lowered    int  // how often
	refusesAll bool // it refuses a connection even where none is open: that is not a limit
}

// lower lowers the limit after the refusal of a connection of a check that began when the
// limit had been lowered begun times. The connections that were open at the refusal are
// the new limit, or fewer if the check began under the present one.
func (l *connLimiter) lower(begun int, r *scenarios.Refusal) {
	if begun == l.lowered {
		l.lowered++
		l.limit = l.limit * 3 / 4
	}
	l.limit = max(1, min(l.limit, r.All))
}

// giveUp records that a server refuses the only connection there is.
func (l *connLimiter) giveUp() { l.refusesAll, l.limit = true, mostConnections }
