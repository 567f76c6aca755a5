package check

import (
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bar is a progress bar, which end removes.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar

	mu   sync.Mutex
	last string // the check that ended last
}

func newBar(w io.Writer, total int) *bar {
	b := &bar{container: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))}
	// A bar that is made with its total ends when it gets there; this one goes on
	// while checks are tried again.
	b.bar = b.container.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d ")),
		mpb.AppendDecorators(decor.Any(b.words)))
	b.bar.SetTotal(int64(total), false)
	return b
}

// show moves the bar; it may be called by several goroutines.
func (b *bar) show(done, total int, check string) {
	b.mu.Lock()
	b.last = check
	if done == total {
		b.last = "finishing: what is inconclusive is tried again"
	}
	b.mu.Unlock()
	b.bar.SetCurrent(int64(done))
}

func (b *bar) words(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return " " + b.last
}

// end removes the bar. It blocks until that is done.
func (b *bar) end() {
	b.bar.Abort(true)
	b.container.Wait()
}

// aboveBar is standard error, with a progress bar below what is written if begin was called.
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

// show moves the bar, by time if a time was given, and not to its end.
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

// end removes the bar.
func (a *aboveBar) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bar != nil {
		a.bar.end()
		a.bar = nil
	}
}
