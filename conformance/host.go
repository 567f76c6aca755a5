package conformance

import (
	"github.com/fwpsuite/fwp/scenarios"
)

// host is a server that checks share, and its state. Except for peers, only the
// loop of the run uses it.
type host struct {
	Server
	peers   scenarios.PeerStats
	limiter connLimiter
	crashed string // the check after which it no longer served

	running []*task // on it
	dying   []*task // that ended since one found it dead, until it is known which one crashed it

	// probation counts pending checks after which it seemed dead: they are tried again
	// before others.
	probation int
}

func newHost(server Server) *host {
	return &host{Server: server, limiter: connLimiter{limit: mostConnections}}
}

// takes reports whether a check may begin on the host, in addition to those that run.
func (h *host) takes(t *task) bool {
	if len(h.dying) > 0 || h.probation > 0 && t.death == nil {
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
	return conns <= h.limiter.limit
}

// enter records that a check begins.
func (h *host) enter(t *task) {
	t.limits, t.together = h.limiter.lowered, len(h.running) > 0
	for _, other := range h.running {
		other.together = true
	}
	h.running = append(h.running, t)
	if t.death != nil {
		h.probation--
	}
}
