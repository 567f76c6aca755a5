package zmtp

import (
	"context"
	"net"
)

// Dealer is a DEALER socket with one connection. It adds no frame to a message and removes none. Its methods may be
// called at the same time. (28/REQREP: The DEALER Socket Type)
type Dealer struct {
	link *link
	in   *queue[[][]byte]
	out  *queue[[]byte]
	done chan struct{}
}

// NewDealer makes a connection that we opened a DEALER: it exchanges greetings and READY with the peer, and blocks
// until that is done. If it fails the connection is closed, and the error is a *[SyntaxError], a *[PeerError], a
// *[MismatchError], the one of the connection, or of ctx. The Dealer owns nc; [Dealer.Close] ends it.
func NewDealer(ctx context.Context, nc net.Conn, config Config) (*Dealer, error) {
	config = config.orDefault()
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

// Send sends a message of at least one frame. It blocks while the queue is full, and returns before the message is
// written. After the connection has ended it returns the reason.
func (d *Dealer) Send(ctx context.Context, parts ...[]byte) error {
	return d.Raw(ctx, AppendMessage(nil, parts...))
}

// Raw sends octets as they are, between two messages: whatever a peer must not send can be sent so. Otherwise it is
// Send.
func (d *Dealer) Raw(ctx context.Context, b []byte) error { return d.out.put(ctx, b, len(b)) }

// Receive waits for a message and returns its frames, which belong to the caller. After the connection has ended
// it returns the messages that were received before, and then the reason: [ErrClosed], [ErrSilent], a *[SyntaxError],
// io.EOF or the error of the connection.
func (d *Dealer) Receive(ctx context.Context) ([][]byte, error) { return d.in.get(ctx) }

// Done returns a channel that is closed when the connection has ended.
func (d *Dealer) Done() <-chan struct{} { return d.done }

// Close ends the connection and gives up what was not written, and returns when nothing of it runs any more.
func (d *Dealer) Close() {
	d.link.end(ErrClosed)
	<-d.done
}
