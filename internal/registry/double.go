package registry

import (
	"crypto/tls"
	"net/http"
	"sync"

	"github.com/fwpsuite/fwp/protocols/fwp/double"
)

// DoubleConfig is how a test double is started.
type DoubleConfig struct {
	Config

	TLS *tls.Config // nil: it does not encrypt
	// Extension is one of Entry.Extensions, which the server has; empty: none.
	Extension string
	// FindBug returns the bug of a name or a rule, for its control: see Entry.BugOrRule.
	FindBug func(name string) (Bug, error)
}

// Double is an embedded server that serves the clients of other people's tests, and counts what they do.
type Double struct {
	URL     string       // of its clients, without a password
	Control http.Handler // over HTTP; nil: there is none
	Summary func() double.Summary
	Close   func() // ends it
}

// watch counts what clients of an embedded server do. Its methods may be called by many goroutines at once.
type watch struct {
	mu      sync.Mutex
	summary double.Summary
}

// count calls f with the counts, one call at a time.
func (w *watch) count(f func(*double.Summary)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(&w.summary)
}

// double returns a server as a test double.
func (w *watch) double(s *Server) *Double {
	return &Double{URL: s.URL, Close: s.Close, Summary: func() double.Summary {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.summary
	}}
}
