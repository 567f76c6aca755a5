package check

import (
	"io"
	"sync"
	"time"
)

// aboveBar is standard error with a progress bar at its end. Without a bar it is just
// that.
type aboveBar struct {
	mu    sync.Mutex
	out   io.Writer
	bar   *bar
	total int           // commands, or seconds if there is a time
	time  time.Duration // zero: commands count
	begun time.Time
}

// begin shows a bar.
func (a *aboveBar) begin(o *exploreOptions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total, a.time, a.begun = o.steps, o.time, time.Now()
	if a.time > 0 {
		a.total = int(a.time.Seconds())
	}
	a.bar = newBar(a.out, a.total)
}

// show moves the bar, by time if an end of that is given. More than all is not shown.
func (a *aboveBar) show(commands int, words string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bar == nil {
		return
	}
	done := commands
	if a.time > 0 {
		done = int(time.Since(a.begun).Seconds())
	}
	a.bar.show(max(min(done, a.total-1), 0), a.total, words)
}

// Write writes above the bar.
func (a *aboveBar) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bar != nil {
		return a.bar.container.Write(b)
	}
	return a.out.Write(b)
}

// end takes the bar away.
func (a *aboveBar) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bar != nil {
		a.bar.end()
		a.bar = nil
	}
}
