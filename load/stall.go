package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/protocol"
)

// Limits of stall detection. They apply where a phase has no end of its own: the jobs
// pushed beforehand, a number of jobs, the drain. A fetch is answered within 2 s.
const (
	silentLimit = 10 * time.Second // commands are in flight, and none is answered; a longer Config.Timeout counts instead
	errorsLimit = 5 * time.Second  // commands fail, and none succeeds
	errorsLeast = 10               // with at least this many failures
)

// watchdog detects that commands no longer succeed. The zero value has seen no stall.
type watchdog struct {
	silent   time.Duration // how long a server may answer nothing; silentLimit if it is less
	served   int64         // commands that succeeded
	since    time.Duration // the time of the last success, or of the beginning of the phase
	errors   int64         // failures until then
	inFlight time.Duration // since when commands have been in flight without a success
	stall    string        // why the phase is given up; empty while commands succeed
}

// reset starts stall detection again, at the beginning of a phase.
func (w *watchdog) reset(now time.Duration, s *client.Status) {
	*w = watchdog{silent: w.silent, served: s.Served, since: now, errors: s.Errors, inFlight: now}
}

// observe updates the watchdog with the current status. Patience is added to the limits: a
// worker sends nothing while it works. A stall that was detected stays until reset.
func (w *watchdog) observe(now time.Duration, s *client.Status, patience time.Duration) {
	if s.Served != w.served {
		w.served, w.since, w.errors, w.inFlight = s.Served, now, s.Errors, now
	}
	if s.InFlight == 0 {
		w.inFlight = now
	}
	switch {
	case w.stalled():
	case now-w.since > errorsLimit+patience && s.Errors-w.errors >= errorsLeast:
		w.stall = fmt.Sprintf("there were only errors for %v", (now - w.since).Round(time.Second))
		if s.Last != nil {
			w.stall += " (" + errorText(s.Last) + ")"
		}
	case now-w.inFlight > max(silentLimit, w.silent)+patience:
		w.stall = fmt.Sprintf("no command was answered for %v", (now - w.inFlight).Round(time.Second))
	}
}

// stalled reports whether a stall was detected since the last reset.
func (w *watchdog) stalled() bool { return w.stall != "" }

// errorText returns the server's text of an error reply, and the text of any other error.
func errorText(err error) string {
	if refused, ok := errors.AsType[*protocol.RefusedError](err); ok {
		return refused.Text
	}
	return text.OfError(err)
}
