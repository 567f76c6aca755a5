package zmtp

import (
	"context"
	"fmt"
	"net"
	"time"
)

// handshake exchanges greetings and READY on a fresh connection. Where admit is not nil we are the server: it decides,
// with what the peer announced, whether our READY is sent. (Version Negotiation, The NULL Security Mechanism)
//
// A peer of version 3.0 is accepted, and gets no PING, since it does not have that command. A peer below 3.0 is
// refused, as the specification allows.
func handshake(
	ctx context.Context, nc net.Conn, r *Reader, c Config, socket string, admit func(Peer) error,
) (peer Peer, err error) {
	nc.SetDeadline(time.Now().Add(c.Handshake))
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() {
			err = context.Cause(ctx)
		}
	}()
	if peer.Version, err = greet(nc, r, c.SendInPieces); err != nil {
		return peer, err
	}
	ready := Ready(c.metadata(socket)).Append(nil)
	if admit == nil {
		if _, err := nc.Write(ready); err != nil {
			return peer, fmt.Errorf("send READY: %w", err)
		}
	}
	if peer.Metadata, err = readReady(nc, r, socket); err != nil {
		return peer, err
	}
	if admit != nil {
		if err := admit(peer); err != nil {
			return peer, err
		}
		if _, err := nc.Write(ready); err != nil {
			return peer, fmt.Errorf("send READY: %w", err)
		}
	}
	return peer, nc.SetDeadline(time.Time{})
}

// greet exchanges greetings.
func greet(nc net.Conn, r *Reader, inPieces bool) (Version, error) {
	ours := NewGreeting().Append(nil)
	if inPieces {
		if _, err := nc.Write(ours[:FirstPiece]); err != nil {
			return Version{}, fmt.Errorf("send the greeting: %w", err)
		}
		if err := r.ReadOpening(); err != nil {
			return Version{}, fmt.Errorf("read the greeting: %w", err)
		}
		ours = ours[FirstPiece:]
	}
	if _, err := nc.Write(ours); err != nil {
		return Version{}, fmt.Errorf("send the greeting: %w", err)
	}
	item, err := r.Read()
	if err != nil {
		return Version{}, fmt.Errorf("read the greeting: %w", err)
	}
	if theirs := item.Greeting.Mechanism; theirs != NULL {
		return Version{}, &MismatchError{"mechanism", NULL, theirs}
	}
	return item.Greeting.Version, nil
}

// readReady reads READY and checks the socket type; one that does not fit is answered with ERROR.
func readReady(nc net.Conn, r *Reader, socket string) (Metadata, error) {
	item, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read READY: %w", err)
	}
	if item.Command.Name == ERROR {
		reason, _ := ParseError(item.Command.Data) // the Reader has checked it
		return nil, &PeerError{reason}
	}
	m, _ := ParseMetadata(item.Command.Data) // the Reader has checked it
	if theirs, ok := m.Get(SocketType); ok && !Compatible(socket, string(theirs)) {
		_, _ = nc.Write(Error("Invalid-socket-type").Append(nil)) // the connection is given up either way
		return nil, &MismatchError{"socket type", socket, string(theirs)}
	}
	return m, nil
}
