package emqp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Broker is one broker. Its methods may be called at the same time.
//
// Where the document says nothing, this broker does the following. It acknowledges INFORM, REQUEST, PUBLISH, SCHEDULE
// and UNSCHEDULE with ACK, and nothing else. READY is one credit: a worker is sent one REQUEST for each. A REQUEST
// has the id and frames that its client sent. A REPLY of a worker is for the oldest REQUEST that it was sent, wants a
// reply, and has none. PUBLISH has no subscribers. Messages that break the document are ignored. A REQUEST that was
// sent to a worker is not sent again.
type Broker struct {
	config     Config
	sockets    []*zmtp.Router // the front end, and the back end if that is another
	goroutines sync.WaitGroup
	end        chan struct{}
	wake       chan struct{} // holds one: the clock looks at the times anew

	mu           sync.Mutex
	isEnded      bool
	isLeaving    bool // after DISCONNECT
	peers        map[address]*peer
	workers      []*peer          // in the order in which they were sent something last
	queues       map[string][]job // by name, none empty
	schedule     []job            // waits for a scheduler
	waitingCount int
	droppedCount int
	ids          int
}

// address is where a peer is.
type address struct {
	socket   int
	identity string
}

// peer is what the broker knows of one.
type peer struct {
	address
	role         Role
	number       int          // of a scheduler: in the order of their INFORMs
	queues       []emqp.Queue // of a worker, the highest weight first
	credit       int          // of a worker: READYs that were not used up
	replyTo      []address    // of a worker: who waits for its REPLYs, the oldest first
	lastReceived time.Time    // its last message
	lastSent     time.Time    // the last message to it
}

// job is a message that waits for a worker or scheduler.
type job struct {
	from    address
	message emqp.Message
}

// Start returns a broker on one or two listeners: the front end for clients and schedulers, and the back end for
// workers, or nil where one socket is for all. The listeners are the broker's. (ROUTER Addressing)
func Start(config Config, front, back net.Listener) *Broker {
	b := &Broker{
		config: config.withDefaults(), end: make(chan struct{}), wake: make(chan struct{}, 1),
		peers: map[address]*peer{}, queues: map[string][]job{},
	}
	for _, l := range []net.Listener{front, back} {
		if l != nil {
			b.serve(l)
		}
	}
	b.goroutines.Go(b.clock)
	return b
}

// serve gives the broker one more socket.
func (b *Broker) serve(l net.Listener) {
	i, config := len(b.sockets), b.config.Router
	config.OnJoin = nil
	config.OnLeave = func(identity string, err error) {
		if identity != "" && !errors.Is(err, zmtp.ErrTaken) { // the one who took it is there
			b.mu.Lock()
			defer b.mu.Unlock()
			b.forget(address{i, identity})
		}
	}
	r := zmtp.NewRouter(config)
	b.sockets = append(b.sockets, r)
	b.goroutines.Go(func() {
		<-b.end
		l.Close()
		r.Close()
	})
	b.goroutines.Go(func() { _ = r.Serve(l) }) // until the listener is closed
	b.goroutines.Go(func() {
		for m, err := r.Receive(context.Background()); err == nil; m, err = r.Receive(context.Background()) {
			b.receive(address{i, m.From}, m.Parts)
		}
	})
}

// Close ends the broker and all its connections.
func (b *Broker) Close() {
	b.mu.Lock()
	if !b.isEnded {
		b.isEnded = true
		close(b.end)
	}
	b.mu.Unlock()
	b.goroutines.Wait()
}

// Counts is what a broker has.
type Counts struct {
	Waiting             map[string]int // messages, by queue
	Workers, Schedulers int
	Schedule            int // messages that wait for a scheduler
	Dropped             int // messages for which there was no room
}

// Counts returns what the broker has now.
func (b *Broker) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := Counts{Waiting: map[string]int{}, Workers: len(b.workers), Schedule: len(b.schedule), Dropped: b.droppedCount}
	for name, jobs := range b.queues {
		c.Waiting[name] = len(jobs)
	}
	for _, p := range b.peers {
		if p.role == Scheduler {
			c.Schedulers++
		}
	}
	return c
}

// id returns the id of a message of the broker; the mutex is held, as in all that follows.
func (b *Broker) id() string {
	b.ids++
	return fmt.Sprint("broker-", b.ids)
}

// send sends a message to a peer, as the hook has changed it. It returns an error if the peer cannot be sent to.
func (b *Broker) send(p *peer, m emqp.Message) error {
	e := Event{Peer: p.identity, Role: p.role, IsFromBroker: true, Frames: m.Frames(), socket: p.socket}
	if b.config.Hook != nil {
		b.config.Hook(&e)
	}
	p.lastSent = time.Now()
	if e.Delay > 0 {
		time.AfterFunc(e.Delay, func() { _ = b.write(p, e) }) // whoever has left by then misses it
		return nil
	}
	return b.write(p, e)
}

func (b *Broker) write(p *peer, e Event) (err error) {
	r := b.sockets[p.socket]
	for i := 0; i <= e.Repeats && !e.Drop && err == nil; i++ {
		err = r.Send(e.Peer, e.Frames...)
	}
	if e.Disconnect {
		r.Disconnect(e.Peer)
	}
	return err
}

// wakeClock wakes the clock.
func (b *Broker) wakeClock() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// clock sends HEARTBEATs, and forgets those who send none. (Heartbeating)
func (b *Broker) clock() {
	for {
		timer := time.NewTimer(b.tick())
		select {
		case <-timer.C:
		case <-b.wake:
		case <-b.end:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// tick does what is due, and returns the time until something is.
func (b *Broker) tick() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.config.Timeout
	for at, p := range b.peers {
		if p.role == Client || b.isLeaving {
			continue
		}
		if time.Since(p.lastReceived) >= b.config.Timeout {
			b.forget(at)
			continue
		}
		if time.Since(p.lastSent) >= b.config.Interval {
			_ = b.send(p, emqp.Heartbeat(b.id(), time.Now())) // who cannot be sent to is found out by its silence
		}
		next = min(next, b.config.Timeout-time.Since(p.lastReceived), b.config.Interval-time.Since(p.lastSent))
	}
	return next
}

// Config has the settings of a broker. The zero Config works.
type Config struct {
	// Router is for both sockets. Its OnJoin and OnLeave are the broker's own.
	Router zmtp.RouterConfig

	// Interval is how long the broker sends a worker or scheduler nothing before it sends a HEARTBEAT, 3 s if zero.
	// One from which it has no message for Timeout, three intervals if zero, has disconnected. (Heartbeating)
	Interval, Timeout time.Duration

	// MaxWaiting is how many messages wait for workers and schedulers; 100,000 if zero. More are dropped; Counts
	// returns how many.
	MaxWaiting int

	// Stops makes the broker end all connections and listen no more, a moment after a DISCONNECT.
	Stops bool

	// Hook is called before each message of a peer is handled, and before each message to one is sent; it may be nil.
	// It is called under the broker's lock and must not call the broker.
	Hook func(e *Event)
}

func (c Config) withDefaults() Config {
	if c.Interval <= 0 {
		c.Interval = 3 * time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 3 * c.Interval
	}
	if c.MaxWaiting <= 0 {
		c.MaxWaiting = 100_000
	}
	return c
}

// Role is what a peer is to the broker.
type Role uint8

// The roles. A peer is a Client until its INFORM.
const (
	Client Role = iota
	Worker
	Scheduler
)

// Event is a message before it is handled or sent. A hook may change Frames, Drop, Repeats, Delay, Disconnect and Stay,
// and the Peer to which it is sent: that one has a connection to the same socket then.
type Event struct {
	Peer         string // its identity, which one on another socket may have too
	Role         Role
	IsFromBroker bool // by the broker, else by the peer

	socket int // of the peer

	Frames     [][]byte
	Drop       bool          // the message is not handled, or not sent
	Repeats    int           // how many times more it is handled or sent
	Delay      time.Duration // until it is sent
	Disconnect bool          // afterwards the connection is closed
	Stay       bool          // the broker goes on although it was sent a DISCONNECT
}
