package check

import (
	"fmt"
	"io"
	"sync"

	"github.com/fwpsuite/fwp/scenarios"
)

// watcher is who follows a run on standard error. The zero value is nobody.
type watcher struct {
	out   io.Writer // every line of every conversation, nil: none
	named bool      // with the check that it belongs to
	bar   *bar      // nil: none
}

// lines prints conversations as they go. Its calls may come side by side, so out
// must be safe for that.
func (w watcher) lines() func(check string, line scenarios.Line) {
	if w.out == nil {
		return nil
	}
	return func(check string, line scenarios.Line) {
		if w.named {
			_, _ = fmt.Fprintf(w.out, "%s  %s\n", check, line)
			return
		}
		_, _ = fmt.Fprintf(w.out, "%s\n", line)
	}
}

func (w watcher) progress() func(done, total int, check string) {
	if w.bar == nil {
		return nil
	}
	return w.bar.show
}

func (w watcher) end() {
	if w.bar != nil {
		w.bar.end()
	}
}

// shared lets several goroutines write, each call at a time.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
