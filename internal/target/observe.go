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

// Talk is what the protocol of a server has for an [observer]. The zero value asks for connections only.
type Talk struct {
	// Ready asks on a new connection whether the server serves; nil: it does if it accepts connections.
	Ready func(ctx context.Context, s *Server) error
	// Line is a command that every server answers on a connection on which it has greeted, whatever its answer is; empty:
	// there is none.
	Line string
	// Mark asks since when the server runs; nil: it does not say.
	Mark func(ctx context.Context, s *Server) (Mark, error)
}

// Mark is what a server reports about the process that serves.
type Mark struct {
	Asked    time.Time     // when it was asked; zero: it reports nothing
	Uptime   time.Duration // how long it has run, in whole seconds; negative: not known
	Commands int64         // how many it has got; 0: not known
	Started  string        // when it was started, as the server writes it; empty: not known
	Version  string
}

// isOther reports whether a later mark is that of another process.
func (m Mark) isOther(later Mark) bool {
	switch {
	case m.Asked.IsZero() || later.Asked.IsZero():
		return false
	case m.Started != later.Started, m.Version != later.Version, later.Commands > 0 && later.Commands < m.Commands:
		return true
	case m.Uptime < 0 || later.Uptime < 0:
		return false
	}
	const exact = time.Second // both uptimes are rounded
	return later.Uptime+exact < m.Uptime+later.Asked.Sub(m.Asked)
}

// UnseenError reports that something which was done to a server was not seen to take effect. Nothing may be concluded
// from what the server did afterwards.
type UnseenError struct {
	Action Action
	Why    string   // "a connection from before is still open"
	Output []string // the last lines of the command that did it, or of the launcher
	Advice string
	Serves bool // something serves at the address of the server, so that it cannot be started again
}

func (e *UnseenError) Error() string {
	words := fmt.Sprintf("%s had no visible effect: %s", e.Action, e.Why)
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
	seenWithin   = 10 * time.Second       // after the end of a command
	silence      = time.Second            // without an answer, of a server that stands still
	lookPause    = 10 * time.Millisecond  // between two looks
	answerWithin = 2 * time.Second        // of a server that was asked
	comesBack    = 2 * time.Second        // of a server that its supervisor starts again
	staysFor     = 300 * time.Millisecond // of a command, until it counts as alive
	lingersFor   = 2 * time.Second        // of a listener that is closed already
)

// observer sees from outside what becomes of a server while something is done to it: whether a connection lives on that
// was open before, and whether what serves is the same as before.
type observer struct {
	server *Server
	held   net.Conn      // nil: none could be opened
	ended  chan struct{} // closed when held has ended
	at     time.Time     // when it ended, to be read then
	heard  atomic.Int64  // bytes that it brought
	began  time.Time
	before instance
	mark   Mark

	refused atomic.Bool // it was seen that nothing served
}

// observe begins to observe the server. The observer must be closed.
func (s *Server) observe(ctx context.Context) *observer {
	o := &observer{server: s, ended: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if held, err := s.Dial(ctx); err == nil {
		o.held, o.before = held, s.instanceOf(held)
		go o.listen()
		_ = s.serves(ctx) // the connection before it was accepted then
	} else {
		close(o.ended)
		o.refused.Store(down(err))
	}
	if s.Talk.Mark != nil && !s.ours() && o.held != nil {
		o.mark, _ = s.Talk.Mark(ctx, s)
	}
	o.began = time.Now()
	return o
}

// listen reads what the connection brings until it ends.
func (o *observer) listen() {
	defer close(o.ended)
	buffer := make([]byte, 4<<10)
	for {
		n, err := o.held.Read(buffer)
		o.heard.Add(int64(n))
		if err != nil {
			o.at = time.Now()
			return
		}
	}
}

func (o *observer) close() {
	if o.held != nil {
		_ = o.held.Close()
	}
}

// gone waits until the connection from before has ended. It is true if there was none.
func (o *observer) gone(ctx context.Context, patience time.Duration) bool {
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

// down reports whether an error of serves means that nothing serves: no connection is accepted, or one that a forwarder
// accepted ends at once.
func down(err error) bool {
	return err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) &&
		(isDial(err) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

func isDial(err error) bool {
	op, is := errors.AsType[*net.OpError](err)
	return is && op.Op == "dial"
}

// serves asks on a new connection whether the server serves.
func (s *Server) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if s.Talk.Ready != nil {
		return s.Talk.Ready(ctx, s)
	}
	nc, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	return nc.Close()
}

// isOther reports whether what serves now is not what served before.
func (o *observer) isOther(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if nc, err := o.server.Dial(ctx); err == nil {
		now := o.server.instanceOf(nc)
		_ = nc.Close()
		if o.before.isOther(now) {
			return true
		}
	}
	if o.mark.Asked.IsZero() {
		return false
	}
	now, err := o.server.Talk.Mark(ctx, o.server)
	return err == nil && o.mark.isOther(now)
}

// stopped waits until the server has stopped: the connection from before has ended, and nothing serves, or something
// else than before.
func (o *observer) stopped(ctx context.Context, action Action) *UnseenError {
	within := cmp.Or(o.server.within, seenWithin)
	if !o.gone(ctx, within) {
		return &UnseenError{
			Action: action, Why: "the server did not stop: a connection from before is still open", Serves: true,
		}
	}
	if action == KillServer && o.held != nil && o.at.Sub(o.began) > within/2 {
		return &UnseenError{Action: action, Why: fmt.Sprintf("the server continued to run after the command ended: a "+
			"connection from before ended %v later", o.at.Sub(o.began).Round(time.Second))}
	}
	for until := time.Now().Add(within); !o.refused.Load(); {
		err := o.server.serves(ctx)
		if down(err) || err == nil && o.isOther(ctx) {
			break
		}
		if time.Now().After(until) || !machine.Sleep(ctx, lookPause) {
			return &UnseenError{Action: action, Serves: true, Why: "the server did not stop, or the next one cannot be " +
				"distinguished from it: something still serves at " + o.server.Address.HostPort()}
		}
	}
	return nil
}

// watch looks, until the returned function is called, whether nothing serves for a moment, where that is the only way
// to see that a server was started anew.
func (o *observer) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		pause := lookPause
		for ; o.before == nil && !o.refused.Load() && machine.Sleep(ctx, pause); pause = min(2*pause, silence/10) {
			o.refused.Store(down(o.server.serves(ctx)))
		}
	}()
	return func() { cancel(); <-over }
}

// paused waits until nothing answers, neither on a new connection nor on the one from before.
func (o *observer) paused(ctx context.Context) *UnseenError {
	for until := time.Now().Add(2 * silence); ; {
		asking, cancel := context.WithTimeout(ctx, silence)
		err := o.server.serves(asking)
		quiet := asking.Err() != nil && err != nil && !down(err)
		cancel()
		if quiet && o.silent(ctx) {
			return nil
		}
		if time.Now().After(until) || !machine.Sleep(ctx, lookPause) {
			return &UnseenError{Action: Pause, Why: "the server still answers", Serves: true}
		}
	}
}

// silent reports whether the connection from before brings no answer.
func (o *observer) silent(ctx context.Context) bool {
	if o.held == nil || o.server.Talk.Line == "" {
		return true
	}
	before := o.heard.Load()
	if _, err := io.WriteString(o.held, o.server.Talk.Line); err != nil {
		return false
	}
	return !o.gone(ctx, silence) && o.heard.Load() == before
}
