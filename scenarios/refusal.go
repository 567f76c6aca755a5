package scenarios

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Crowd is what plays on one server have in common: how many connections they have
// open, and what they were served so far. The zero Crowd is ready. It is safe for
// concurrent use.
type Crowd struct {
	open atomic.Int64
	seen services
}

// Open is how many there are at the moment.
func (c *Crowd) Open() int { return int(c.open.Load()) }

// Refusal tells of a connection that was not let in: it could not be opened, or
// an error, the end or nothing at all came instead of HI. A server that is at its
// limit of connections looks like that, and so does one that is broken or gone.
type Refusal struct {
	Got string // what came instead of HI
	Own int    // connections of the play that were open then, and not refused so far
	All int    // those of all plays that share a Crowd
}

// door keeps who was let in and who was not. It is safe for concurrent use.
type door struct {
	mu  sync.Mutex
	in  int      // connections that are open, and not refused so far
	one *Refusal // the one at which the fewest connections were open, see closer
}

// refuse keeps a refusal; all are the connections that were open then.
func (d *door) refuse(got string, all int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := (Refusal{Got: got, Own: d.in, All: all}); d.one == nil || r.closer(*d.one) {
		d.one = &r
	}
}

// closer reports whether a refusal is closer to the limit of the server than another one
// of the same play. One at which no connection of the play was open says less than one at
// which some were: it may be read only when the others are closed already.
func (r Refusal) closer(other Refusal) bool {
	if (r.Own > 0) != (other.Own > 0) {
		return r.Own > 0
	}
	return r.All < other.All
}

func (d *door) count(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in += n
}

// visit is one connection as it is counted. It belongs to the goroutine that reads
// the connection.
type visit struct {
	*play
	met, refused bool
}

func (pl *play) visit() *visit {
	pl.Crowd.open.Add(1)
	pl.door.count(1)
	return &visit{play: pl}
}

// meet looks at what came: the first thing tells whether the connection was let in.
func (v *visit) meet(a session.Received) {
	if a.Bytes() {
		v.Crowd.seen.note(greets)
	}
	hi := a.Bytes() && (a.Broken != nil || !v.dialect().Grammar().refused(a.Message))
	if !v.met && !hi {
		v.refused = true
		v.door.count(-1)
		v.door.refuse(a.String(), v.Crowd.Open()-1)
	}
	v.met = true
}

func (v *visit) leave() {
	v.Crowd.open.Add(-1)
	if !v.refused {
		v.door.count(-1)
	}
}

// revive asks again whether a server lives that seemed not to, now that the play
// has closed its connections: with them open it may have been at its limit.
func (pl *play) revive(ctx context.Context, open int) {
	const patience = 2 * time.Second
	if pl.dead == "" || open == 0 || ctx.Err() != nil {
		return
	}
	l := &lane{play: pl, scope: pl.scope.child()}
	if _, err := l.untilAlive(ctx, min(pl.Timeout, patience), nil); err != nil {
		return
	}
	pl.rec.add(time.Now(), "", "--", "the server serves again, now that the connections of the script are closed", Pos{})
	pl.door.count(open) // as it was
	pl.door.refuse(pl.dead, pl.Crowd.Open()+open)
	pl.dead = ""
}

// served counts the connections of the play that the server has let in and not
// ended. It is for after the script.
func (pl *play) served() int {
	n := 0
	for _, c := range pl.open() {
		a, came := c.Waiting()
		if c.Status().Phase == session.Serving && c.Ended() == Open && (!came || a.Ending == Open) {
			n++
		}
	}
	return n
}
