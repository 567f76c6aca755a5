package check

import (
	"io"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bar is a progress bar that leaves nothing behind.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar

	mu   sync.Mutex
	last string // what was done last
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

// end takes the bar away. It blocks until that is done.
func (b *bar) end() {
	b.bar.Abort(true)
	b.container.Wait()
}
