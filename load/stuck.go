package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// How long it is borne that nothing goes well, in what has no end of its own: jobs
// beforehand, a number of jobs, the drain. A FETCH is answered within 2 s.
const (
	silentLimit = 10 * time.Second // commands are in flight, and nothing comes
	errorsLimit = 5 * time.Second  // nothing but errors comes
	errorsLeast = 10               // so many of them
)

// hope is what is known of how commands go. The zero value is that all may go well.
type hope struct {
	served int64         // commands that went well
	since  time.Duration // when the last of them did
	errors int64         // until then
	flight time.Duration // since when commands have been in flight and none went well
	dashed string        // why it is given up; empty if it is not
}

// renew hopes again, at the beginning of something else.
func (r *run) renew() {
	now := r.now()
	r.hope = hope{served: r.status.Served, since: now, errors: r.status.Errors, flight: now}
}

// watchHope looks how commands go.
func (r *run) watchHope(now time.Duration) {
	h, s := &r.hope, &r.status
	if s.Served != h.served {
		h.served, h.since, h.errors, h.flight = s.Served, now, s.Errors, now
	}
	if s.InFlight == 0 {
		h.flight = now
	}
	if h.dashed != "" {
		return
	}
	patient := r.work.Work.Max // whoever works asks for nothing
	wrong := s.Errors - h.errors
	switch {
	case now-h.since > errorsLimit+patient && wrong >= errorsLeast:
		h.dashed = fmt.Sprintf("nothing but errors came for %v%s", (now - h.since).Round(time.Second), r.lastError())
	case now-h.flight > silentLimit+patient:
		h.dashed = fmt.Sprintf("no command was answered for %v", (now - h.flight).Round(time.Second))
	}
}

// hopeless says that nothing has gone well for so long that it is given up.
func (r *run) hopeless() bool { return r.hope.dashed != "" }

// lastError is what went wrong last, in brackets.
func (r *run) lastError() string {
	if r.status.Last == nil {
		return ""
	}
	return " (" + inWords(r.status.Last) + ")"
}

// inWords is what a server said when it refused something, or else the error.
func inWords(err error) string {
	if refused, ok := errors.AsType[*fwp.ReplyError](err); ok {
		return refused.Text
	}
	return err.Error()
}
