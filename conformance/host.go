package conformance

import (
	"sync/atomic"

	"github.com/fwpsuite/fwp/scenarios"
)

// mostConnections is how many connections the checks on one server may have open
// together, as long as it does not refuse any.
const mostConnections = 400

// host is a server that checks share, and what is known of it. Except for the
// crowd and the guests, only the loop of the run uses it.
type host struct {
	Server
	crowd   scenarios.Crowd
	guests  atomic.Int64 // connections of properties, which are not counted by the crowd
	crashed string       // the check after which it no longer served

	running  []*task // on it
	dying    []*task // over since one found it dead, until it is known which of them ended it
	suspects int     // pending checks after which it seemed dead: each is tried again, before anything else runs
	limit    int     // of connections, lowered when it refuses one
	epoch    int     // grows when the limit is lowered
	deaf     bool    // it refuses even those who come alone: that is no limit
}

// open is how many connections to the host there are.
func (h *host) open() int { return h.crowd.Open() + int(h.guests.Load()) }

func newHost(server Server) *host { return &host{Server: server, limit: mostConnections} }

// takes reports whether a check may begin on the host, beside those that run.
func (h *host) takes(t *task) bool {
	if len(h.dying) > 0 || h.suspects > 0 && t.death == nil {
		return false
	}
	if len(h.running) == 0 {
		return true
	}
	conns := t.about.Connections
	for _, other := range h.running {
		if t.apart || other.apart || t.about.Sharing == SharesOneByOne && other.about.Sharing == SharesOneByOne {
			return false
		}
		conns += other.about.Connections
	}
	return conns <= h.limit
}

// enter notes that a check begins.
func (h *host) enter(t *task) {
	t.epoch, t.together = h.epoch, len(h.running) > 0
	for _, other := range h.running {
		other.together = true
	}
	h.running = append(h.running, t)
	if t.death != nil {
		h.suspects--
	}
}

// lower takes a refusal into account: the connections that were open then are
// what the target has to give, or less if the check began under that limit.
func (h *host) lower(t *task) {
	if t.epoch == h.epoch {
		h.epoch++
		h.limit = h.limit * 3 / 4
	}
	h.limit = max(1, min(h.limit, t.evidence.Refused.All))
}
