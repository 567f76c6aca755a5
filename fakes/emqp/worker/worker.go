// Package worker is a conforming worker of eMQP, with one hook at which catalogues of bugs and of permitted
// variations change it: what tests workers of eMQP is tested on it. It executes the jobs that docs/judging-workers.md
// describes: fwp.ok, fwp.fail, fwp.sleep, fwp.echo, fwp.flaky and fwp.late.
package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Config configures a worker; its zero value works but for the URL.
type Config struct {
	URL         string        // emqp://HOST:PORT
	Queues      []string      // "default" if empty
	Concurrency int           // jobs at a time; 2 if zero
	Heartbeat   time.Duration // between heartbeats; 1 s if zero
	Identity    string        // announced; empty: none is
	AwaitsAck   bool          // nothing follows an INFORM that is not acknowledged, however long that takes
	LeaveOpen   bool          // a connection whose conversation is over stays open, and nothing is sent on it
	// Dial opens connections; nil means the network of the machine.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Hook sees and may change everything that happens: see [Event]. It is called by many goroutines at once.
	Hook func(*Event)
}

// Run runs a worker until ctx is done, or the broker has disconnected it, and returns its exit code. No goroutine of it
// is left then.
func Run(ctx context.Context, config Config) int {
	u, err := url.Parse(config.URL)
	if err != nil || u.Host == "" {
		return 2
	}
	if config.Dial == nil {
		config.Dial = new(net.Dialer).DialContext
	}
	if config.Concurrency <= 0 {
		config.Concurrency = 2
	}
	if config.Heartbeat <= 0 {
		config.Heartbeat = time.Second
	}
	if len(config.Queues) == 0 {
		config.Queues = []string{"default"}
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{Config: config, ctx: ctx}
	defer w.jobs.Wait()
	defer cancel()
	const pause = 300 * time.Millisecond
	for ctx.Err() == nil && !w.isOver {
		w.converse(u.Host)
		if e := w.ask(&Event{Point: ConversationLost}); e.Exit {
			return 1
		}
		machine.Sleep(ctx, pause)
	}
	if w.isOver && ctx.Err() == nil {
		w.jobs.Wait() // pending jobs complete (DISCONNECT and KBAI)
	}
	return 0
}

type worker struct {
	Config
	ctx    context.Context //nolint:containedctx // of its life
	jobs   sync.WaitGroup
	isOver bool // after a DISCONNECT
	number int  // of conversations

	mu  sync.Mutex
	ids int
}

// ask calls the hook.
func (w *worker) ask(e *Event) *Event {
	if w.Hook != nil {
		w.Hook(e)
	}
	return e
}

// id returns the id of a message.
func (w *worker) id() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return fmt.Sprint("message-", w.ids)
}

// conversation is what follows an INFORM.
type conversation struct {
	*worker
	dealer *zmtp.Dealer

	mu     sync.Mutex
	sentAt time.Time
	isMute bool // nothing is sent any more
}

// send sends a message, as the hook has changed it.
func (c *conversation) send(m emqp.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ask(&Event{Point: Sending, Command: m.Command, Frames: m.Frames(), Mute: c.isMute})
	if e.Skip || e.Mute {
		return nil
	}
	c.sentAt = time.Now()
	for _, frames := range append(e.Preamble, e.Frames) {
		if err := c.dealer.Send(c.ctx, frames...); err != nil {
			return err
		}
	}
	c.isMute = c.isMute || m.Command == emqp.KBAI
	return nil
}

// converse connects, informs the broker, and works its requests until the connection has ended, or the broker is
// silent.
func (w *worker) converse(addr string) {
	nc, err := w.Dial(w.ctx, "tcp", addr)
	if err != nil {
		return
	}
	dealer, err := zmtp.NewDealer(w.ctx, nc, zmtp.Config{Identity: w.Identity})
	if err != nil {
		return
	}
	c := &conversation{worker: w, dealer: dealer}
	defer c.end()
	w.number++
	var queues []emqp.Queue
	for i, name := range w.Queues {
		queues = append(queues, emqp.Queue{Weight: 10 - i, Name: name})
	}
	e := w.ask(&Event{Point: Informing, Number: w.number})
	if !e.Skip && (c.send(emqp.InformWorker(w.id(), queues...)) != nil || w.AwaitsAck && !c.isAcknowledged()) {
		return
	}
	for range w.Concurrency {
		if c.send(emqp.Ready(w.id())) != nil {
			return
		}
	}
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() { c.beat(stop) })
	defer beating.Wait()
	defer close(stop)
	for c.receive() == nil {
	}
}

// end ends the connection, or leaves it to itself.
func (c *conversation) end() {
	if !c.LeaveOpen {
		c.dealer.Close()
		return
	}
	context.AfterFunc(c.ctx, func() { c.dealer.Close() })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isMute = true
}

// isAcknowledged waits for an ACK, and reports whether one came.
func (c *conversation) isAcknowledged() bool {
	for {
		frames, err := c.dealer.Receive(c.ctx)
		if m, parseErr := emqp.Parse(frames); err != nil || parseErr == nil && m.Command == emqp.ACK {
			return err == nil
		}
	}
}

// beat sends HEARTBEATs while nothing else is sent. (Heartbeating)
func (c *conversation) beat(stop chan struct{}) {
	for machine.Wait(stop, c.Heartbeat/2) {
		c.mu.Lock()
		isDue := time.Since(c.sentAt) >= c.Heartbeat*3/4
		c.mu.Unlock()
		if isDue && c.send(emqp.Heartbeat(c.id(), time.Now())) != nil {
			return
		}
	}
}

var errEnd = errors.New("the conversation is over")

// receive waits for a message of the broker, which has disconnected if it is silent for three intervals, and acts on
// it.
func (c *conversation) receive() error {
	const silent = 3
	ctx, cancel := context.WithTimeout(c.ctx, c.ask(&Event{Point: Waiting, Patience: silent * c.Heartbeat}).Patience)
	defer cancel()
	frames, err := c.dealer.Receive(ctx)
	if err != nil {
		return err
	}
	m, err := emqp.Parse(frames)
	if err != nil {
		return nil // it is none of this protocol
	}
	e := c.ask(&Event{Point: Received, Command: m.Command, Message: m})
	switch {
	case e.Skip:
	case m.Command == emqp.REQUEST:
		c.jobs.Go(func() { c.work(m) })
	case m.Command == emqp.KBAI:
		return errEnd
	case m.Command == emqp.DISCONNECT:
		c.isOver = true
		if err := c.send(emqp.Kbai(c.id())); err != nil {
			return err
		}
		const moment = 200 * time.Millisecond // what was sent is on its way
		machine.Sleep(c.ctx, moment)
		if e := c.ask(&Event{Point: Leaving}); !e.Skip {
			return errEnd
		}
	}
	return nil
}
