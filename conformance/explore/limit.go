package explore

import (
	"context"
	"fmt"
	"regexp"
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

// crowded reports whether a server declines the introduction of a client because of how many clients there are: it
// accepts the same line when the connections of the play have ended, and declines it again with as many that do
// nothing. They are of other clients first, and then of the same one. Where it was not the number once, it is not
// looked for again.
func (p *play) crowded(ctx context.Context, c *conn) bool {
	open, line := len(p.conns), c.introduction
	if open < 2 || line == "" || p.declines {
		return false
	}
	p.close()
	limited, cancel := context.WithTimeout(ctx, recovers)
	defer cancel()
	for p.admits(limited, line, 1, false) == 0 {
		if !sleep(limited, 100*time.Millisecond) {
			p.declines = ctx.Err() == nil
			return false
		}
	}
	for _, same := range []bool{false, true} {
		most := open + 1 + lingering
		if n := p.admits(ctx, line, most, same); n > 0 && n < most {
			p.most = n
			p.refused++
			return true
		}
	}
	p.declines = true
	return false
}

// admits returns how many connections a server accepts an introduction on, at most as many as that. They are of one
// client or of as many; it is none that the play has met.
func (p *play) admits(ctx context.Context, line string, most int, same bool) int {
	trial := newPlay(p.config, p.prefix)
	trial.trial = true
	defer trial.close()
	client := regexp.MustCompile(`\$` + p.grammar().Client + `\d+`)
	for n := range most {
		number := trialNames
		if !same {
			number += n
		}
		text := client.ReplaceAllLiteralString(line, fmt.Sprintf("$%s%d", p.grammar().Client, number))
		c, err := trial.dial(ctx, n, asker())
		if err != nil {
			return n
		}
		trial.conns[n] = c
		trial.law.Open(n, time.Now())
		c.clause, c.judged = trial.unheard(), true
		if trial.settle(ctx, c); trial.conns[n] == c {
			trial.transmit(ctx, c, [][]byte{trial.line(trial.fill(text, n))}, 0, false)
			trial.settle(ctx, c)
		}
		if trial.conns[n] != c { // it is over
			return n
		}
	}
	return most
}

// trialNames is the number of the first client that only looks for a limit.
const trialNames = 2000000
