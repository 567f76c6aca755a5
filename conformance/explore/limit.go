package explore

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// How long a server may take to notice that connections have ended, and how many may not be
// noticed yet when another is opened.
const (
	recovers  = time.Second
	lingering = 3
)

// limited reports whether a server serves no new connection because of how many there are,
// however it shows that: it serves when those of the play have ended, and stops again at as
// many that do nothing. The connections of the play have ended then.
func (p *play) limited(ctx context.Context) bool {
	open := len(p.conns)
	if open == 0 {
		return false
	}
	p.close()
	if _, err := p.awake(ctx, recovers); err != nil {
		return false
	}
	var idle []*conn
	defer func() {
		for _, c := range idle {
			_ = c.End(scenarios.Closed)
		}
	}()
	for n := range open + 1 + lingering {
		c, err := p.ask(ctx)
		if err != nil {
			p.most = n
			p.refused++
			return true
		}
		idle = append(idle, c)
	}
	return false
}
