package workercheck

import (
	"io"
	"strings"
	"sync"
)

// feed is the standard input of a program: lines that a situation adds, until it ends it. Its methods may be called by
// many goroutines at once.
type feed struct {
	mu      sync.Mutex
	text    []byte
	ended   bool
	changed chan struct{} // closed at the next change
}

func newFeed(lines ...string) *feed {
	return &feed{text: []byte(joined(lines)), changed: make(chan struct{})}
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// add adds lines.
func (f *feed) add(lines ...string) { f.change(func() { f.text = append(f.text, joined(lines)...) }) }

// end ends the input behind what was added.
func (f *feed) end() { f.change(func() { f.ended = true }) }

func (f *feed) change(act func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	act()
	close(f.changed)
	f.changed = make(chan struct{})
}

// Read blocks until there is more, or the end.
func (f *feed) Read(p []byte) (int, error) {
	for {
		f.mu.Lock()
		n, ended, changed := copy(p, f.text), f.ended, f.changed
		f.text = f.text[n:]
		f.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case ended:
			return 0, io.EOF
		}
		<-changed
	}
}
