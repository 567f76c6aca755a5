package run

import "github.com/fwpsuite/fwp/scenarios/play"

// mostConnections is how many connections the checks on one server may have open at a
// time, as long as it refuses none.
const mostConnections = 400

// connLimiter finds out how many connections a server accepts.
type connLimiter struct {
	limit      int  // lowered when the server refuses a connection
	lowered    int  // how often
	lone       int  // connections in a row that it refused although no other was open
	refusesAll bool // it refuses a connection even where none is open: that is not a limit
}

// lower lowers the limit after the refusal of a connection of a check that began when the
// limit had been lowered begun times. The connections that were open at the refusal are
// the new limit, or fewer if the check began under the present one.
func (l *connLimiter) lower(begun int, r *play.Refusal) {
	if begun == l.lowered {
		l.lowered++
		l.limit = l.limit * 3 / 4
	}
	l.limit = max(1, min(l.limit, r.All))
}

// forget takes back what was found out about a server that has ended since: its end may have been taken for a limit.
func (l *connLimiter) forget() { *l = connLimiter{limit: mostConnections, lowered: l.lowered} }

// lonely is how many connections in a row a server refuses where no other is open before it counts as refusing all:
// it may not have noticed yet that others were closed.
const lonely = 3

// refusedLone records that a server refused the only connection there was.
func (l *connLimiter) refusedLone() {
	if l.lone++; l.lone >= lonely {
		l.refusesAll, l.limit = true, mostConnections
	}
}
