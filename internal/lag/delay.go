package lag

import (
	"sync"
	"time"
)

// Delay is by how much a conversation of ours is behind its plan, from our stamps alone: a line could be written as
// soon as the reply to the one before was received or a pause was over, and was written later. The zero Delay has
// noted nothing. It is safe for concurrent use.
type Delay struct {
	mu    sync.Mutex
	until time.Time // when the last line was written
	lines []late    // those that were late; several that were hardly late as one
}

// Note adds a line that could be written at one time and was written at another one. Where several wait at a time, that
// time counts once.
func (d *Delay) Note(ready, written time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.until.After(ready) {
		ready = d.until
	}
	by := written.Sub(ready)
	if by <= 0 {
		return
	}
	d.until = written
	if last := len(d.lines) - 1; by < worthNoted && last >= 0 && d.lines[last].by < tick {
		d.lines[last].at, d.lines[last].by = written, d.lines[last].by+by
		return
	}
	d.lines = append(d.lines, late{written, by})
}

// Since returns by how much the lines that were written since a moment came later than they could, all together.
func (d *Delay) Since(moment time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum time.Duration
	for _, l := range d.lines {
		if !l.at.Before(moment) {
			sum += l.by
		}
	}
	return sum
}
