package check

import (
	"fmt"
	"io"
	"sync"

	"github.com/fwpsuite/fwp/scenarios"
)

// watcher writes the progress of a run to standard error. The zero value writes nothing.
type watcher struct {
	out   io.Writer // every line of every conversation, nil: none
	named bool      // with the check that it belongs to
	bar   *bar      // nil: none
}

// lines returns a function that prints conversations as they go. Several goroutines call it, so out must be safe for
// that.
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

// syncWriter is a writer for several goroutines.
type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
