package zmtp

import (
	"context"
	"net"
)

// Dealer is a DEALER socket with one connection. It sends and receives messages unchanged. Its methods are safe for
// concurrent use. (28/REQREP: The DEALER Socket Type)
type Dealer struct {
	link *link
	in   *queue[[][]byte]
	out  *queue[[]byte]
	done chan struct{}
}

// NewDealer makes a Dealer from a connection that was dialed. It blocks until greetings and READY are exchanged. The
// Dealer owns nc, and [Dealer.Close] closes it. If the handshake fails, nc is closed; the error is a *[SyntaxError],
// a *[PeerError], a *[MismatchError], or that of the connection or of ctx.
func NewDealer(ctx context.Context, nc net.Conn, config Config) (*Dealer, error) {
	config = config.withDefaults()
	reader := NewReader(nc, config.Limits)
	peer, err := handshake(ctx, nc, reader, config, DEALER, nil)
	if err != nil {
		nc.Close()
		return nil, err
	}
	d := &Dealer{
		in:   newQueue[[][]byte](newStore(config.Memory, nil), config.ReceiveHWM),
		out:  newQueue[[]byte](newStore(config.Memory, nil), config.SendHWM),
		done: make(chan struct{}),
	}
	d.link = newLink(nc, reader, peer, config, d.out)
	d.link.in = func(ctx context.Context, parts [][]byte) error { return d.in.put(ctx, parts, octets(parts)) }
	d.link.start(func(err error) {
		d.in.close(err, false)
		d.out.close(err, true)
		close(d.done)
	})
	return d, nil
}

// Peer returns what the peer announced.
func (d *Dealer) Peer() Peer { return d.link.peer }

// Send queues a message of at least one frame, and returns before it is written. It blocks while the queue is full.
// After the connection has ended it returns the reason, as [Dealer.Receive] does.
func (d *Dealer) Send(ctx context.Context, parts ...[]byte) error {
	return d.Raw(ctx, AppendMessage(nil, parts...))
}

// Raw is [Dealer.Send] for any octets. They are written unchanged, between two messages.
func (d *Dealer) Raw(ctx context.Context, b []byte) error { return d.out.put(ctx, b, len(b)) }

// Receive blocks until there is a message, and returns its frames, which belong to the caller. After the connection
// has ended it returns the remaining messages, and then the reason: [ErrClosed], [ErrSilent], a *[SyntaxError],
// io.EOF or the error of the connection.
func (d *Dealer) Receive(ctx context.Context) ([][]byte, error) { return d.in.get(ctx) }

// Done returns a channel that is closed when the connection has ended.
func (d *Dealer) Done() <-chan struct{} { return d.done }

// Close closes the connection and drops unwritten messages. It returns when all goroutines of the Dealer have ended.
func (d *Dealer) Close() {
	d.link.end(ErrClosed)
	<-d.done
}
