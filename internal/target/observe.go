package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Probe is what the protocol of a server has for an [observer]. The zero value asks for connections only.
type Probe struct {
	// Ready asks on a new connection whether the server serves; nil: it does if it accepts connections.
	Ready func(ctx context.Context, s *Server) error
	// Command is a command that every server answers on a connection on which it has greeted, whatever its answer is;
	// empty: there is none.
	Command string
	// ProcessInfo asks since when the server runs; nil: it does not say.
	ProcessInfo func(ctx context.Context, s *Server) (ProcessInfo, error)
}

// ProcessInfo is what a server reports about the process that serves.
type ProcessInfo struct {
	At       time.Time     // when it was asked; zero: it reports nothing
	Uptime   time.Duration // how long it has run, in whole seconds; negative: not known
	Commands int64         // how many it has got; 0: not known
	Started  string        // when it was started, as the server writes it; empty: not known
	Version  string
}

// isReplacedBy reports whether a later report is that of another process.
func (m ProcessInfo) isReplacedBy(later ProcessInfo) bool {
	switch {
	case m.At.IsZero() || later.At.IsZero():
		return false
	case m.Started != later.Started, m.Version != later.Version, later.Commands > 0 && later.Commands < m.Commands:
		return true
	case m.Uptime < 0 || later.Uptime < 0:
		return false
	}
	const exact = time.Second // both uptimes are rounded
	return later.Uptime+exact < m.Uptime+later.At.Sub(m.At)
}

// UnseenError reports that something which was done to a server was not seen to take effect. Nothing may be concluded
// from what the server did afterwards.
type UnseenError struct {
	Action Action
	Reason string   // "a connection from before is still open"
	Output []string // the last lines of the command that did it, or of the launcher
	Advice string
	Serves bool // something serves at the address of the server, so that it cannot be started again
}

func (e *UnseenError) Error() string {
	words := fmt.Sprintf("%s had no visible effect: %s", e.Action, e.Reason)
	if len(e.Output) > 0 {
		words += "; the last lines that the command printed:\n  " + strings.Join(e.Output, "\n  ") + "\n"
	} else {
		words += "; "
	}
	return words + e.Advice
}

// Unseen reports that nothing may be concluded: scenarios/play asks errors of a target for it.
func (e *UnseenError) Unseen() bool { return true }

// The patience of an observer, beside what the protocol's own questions take.
const (
	effectTimeout  = 10 * time.Second       // after the end of a command
	silence        = time.Second            // without an answer, of a server that stands still
	lookInterval   = 10 * time.Millisecond  // between two looks
	answerTimeout  = 2 * time.Second        // of a server that was asked
	restartTimeout = 2 * time.Second        // of a server that its supervisor starts again
	aliveTime      = 300 * time.Millisecond // of a command, until it counts as alive
	lingerTime     = 2 * time.Second        // of a listener that is closed already
)

// observer sees from outside what becomes of a server while something is done to it: whether a connection lives on that
// was open before, and whether what serves is the same as before.
type observer struct {
	server         *Server
	conn           net.Conn      // nil: none could be opened
	ended          chan struct{} // closed when conn has ended
	at             time.Time     // when it ended, to be read then
	byteCount      atomic.Int64  // bytes that it brought
	began          time.Time
	beforeInstance instance
	info           ProcessInfo

	wasRefused atomic.Bool // it was seen that nothing served
}

// observe begins to observe the server. The observer must be closed.
func (s *Server) observe(ctx context.Context) *observer {
	o := &observer{server: s, ended: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if conn, err := s.Dial(ctx); err == nil {
		o.conn, o.beforeInstance = conn, s.instanceOf(conn)
		go o.readConn()
		_ = s.serves(ctx) // the connection before it was accepted then
	} else {
		close(o.ended)
		o.wasRefused.Store(isDown(err))
	}
	if s.Probe.ProcessInfo != nil && !s.wasStartedHere() && o.conn != nil {
		o.info, _ = s.Probe.ProcessInfo(ctx, s)
	}
	o.began = time.Now()
	return o
}

// readConn reads what the connection brings until it ends.
func (o *observer) readConn() {
	defer close(o.ended)
	buffer := make([]byte, 4<<10)
	for {
		n, err := o.conn.Read(buffer)
		o.byteCount.Add(int64(n))
		if err != nil {
			o.at = time.Now()
			return
		}
	}
}

func (o *observer) close() {
	if o.conn != nil {
		_ = o.conn.Close()
	}
}

// awaitConnEnd waits until the connection from before has ended. It is true if there was none.
func (o *observer) awaitConnEnd(ctx context.Context, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-o.ended:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	return false
}

// isDown reports whether an error of serves means that nothing serves: no connection is accepted, or one that a
// forwarder accepted ends at once.
func isDown(err error) bool {
	return err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) &&
		(isDial(err) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

func isDial(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// serves asks on a new connection whether the server serves.
func (s *Server) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if s.Probe.Ready != nil {
		return s.Probe.Ready(ctx, s)
	}
	nc, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	return nc.Close()
}

// isReplaced reports whether what serves now is not what served before.
func (o *observer) isReplaced(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if nc, err := o.server.Dial(ctx); err == nil {
		now := o.server.instanceOf(nc)
		_ = nc.Close()
		if o.beforeInstance.isReplacedBy(now) {
			return true
		}
	}
	if o.info.At.IsZero() {
		return false
	}
	now, err := o.server.Probe.ProcessInfo(ctx, o.server)
	return err == nil && o.info.isReplacedBy(now)
}

// awaitStop waits until the server has stopped: the connection from before has ended, and nothing serves, or something
// else than before.
func (o *observer) awaitStop(ctx context.Context, action Action) *UnseenError {
	timeout := cmp.Or(o.server.effectTimeout, effectTimeout)
	if !o.awaitConnEnd(ctx, timeout) {
		return &UnseenError{
			Action: action, Reason: "the server did not stop: a connection from before is still open", Serves: true,
		}
	}
	if action == KillServer && o.conn != nil && o.at.Sub(o.began) > timeout/2 {
		return &UnseenError{Action: action, Reason: fmt.Sprintf("the server continued to run after the command ended: a "+
			"connection from before ended %v later", o.at.Sub(o.began).Round(time.Second))}
	}
	for until := time.Now().Add(timeout); !o.wasRefused.Load(); {
		err := o.server.serves(ctx)
		if isDown(err) || err == nil && o.isReplaced(ctx) {
			break
		}
		if time.Now().After(until) || !machine.Sleep(ctx, lookInterval) {
			return &UnseenError{Action: action, Serves: true, Reason: "the server did not stop, or the next one cannot be " +
				"distinguished from it: something still serves at " + o.server.Address.HostPort()}
		}
	}
	return nil
}

// watch looks, until the returned function is called, whether nothing serves for a moment, where that is the only way
// to see that a server was started anew.
func (o *observer) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pause := lookInterval
		for ; o.beforeInstance == nil && !o.wasRefused.Load() && machine.Sleep(ctx, pause); pause = min(2*pause, silence/10) {
			o.wasRefused.Store(isDown(o.server.serves(ctx)))
		}
	}()
	return func() { cancel(); <-done }
}

// awaitPause waits until nothing answers, neither on a new connection nor on the one from before.
func (o *observer) awaitPause(ctx context.Context) *UnseenError {
	for until := time.Now().Add(2 * silence); ; {
		asking, cancel := context.WithTimeout(ctx, silence)
		err := o.server.serves(asking)
		isQuiet := asking.Err() != nil && err != nil && !isDown(err)
		cancel()
		if isQuiet && o.isSilent(ctx) {
			return nil
		}
		if time.Now().After(until) || !machine.Sleep(ctx, lookInterval) {
			return &UnseenError{Action: Pause, Reason: "the server still answers", Serves: true}
		}
	}
}

// isSilent reports whether the connection from before brings no answer.
func (o *observer) isSilent(ctx context.Context) bool {
	if o.conn == nil || o.server.Probe.Command == "" {
		return true
	}
	before := o.byteCount.Load()
	if _, err := io.WriteString(o.conn, o.server.Probe.Command); err != nil {
		return false
	}
	return !o.awaitConnEnd(ctx, silence) && o.byteCount.Load() == before
}
