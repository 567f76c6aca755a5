package worker

import (
	"context"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// beat sends BEATs until stop is closed, and then ends its connection. (BEAT)
func (w *Worker) beat(ctx context.Context, stop <-chan struct{}) {
	for {
		c := w.connect(ctx, true, stop)
		if c == nil {
			return
		}
		if w.beatOnConn(ctx, c, stop) {
			c.end(ctx)
			return
		}
		c.close()
		if proceed, _ := w.pauseAfterLoss(ctx, true, w.cfg.FirstPause, nil, stop); !proceed {
			return
		}
	}
}

// beatOnConn sends BEATs on a connection. It reports whether that came to its end; otherwise the connection is lost.
func (w *Worker) beatOnConn(ctx context.Context, c *conn, stop <-chan struct{}) (isEnded bool) {
	for {
		interval, err := w.beatOnce(ctx, c)
		if err != nil {
			return false
		}
		if !pauseUntil(ctx, interval, stop) {
			return ctx.Err() == nil
		}
	}
}

// beatOnce sends one BEAT, and returns the time until the next one.
func (w *Worker) beatOnce(ctx context.Context, c *conn) (interval time.Duration, err error) {
	e := c.event()
	e.Interval, e.Fields = w.cfg.BeatEvery, Fields{"wid": w.cfg.WID, "rss_kb": 20_000}
	if state := w.state(); state != "" {
		e.Fields["current_state"] = state
	}
	w.at(Beating, e)
	if e.Skip {
		return e.Interval, nil
	}
	reply, err := c.roundTrip(ctx, fwp.BEAT, encode(e.Fields))
	if err != nil {
		return e.Interval, err
	}
	if reply.Kind == fwp.ErrorReply {
		w.logf("BEAT: %s", reply.Text)
		if strings.Contains(strings.ToLower(string(reply.Text)), "unknown worker") { // the server has forgotten it
			w.renewal.Add(1)
			c.end(ctx)
			return e.Interval, errBroken
		}
	}
	w.order(&Event{State: reply.State(), Conn: c.n, IsBeatConn: true, conn: c})
	return e.Interval, nil
}
