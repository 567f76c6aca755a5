package session

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// ponger is a connection that is read together with the PONGs which a broker of ZMTP 3.0, that is sent no PING, does
// not send. (37/ZMTP: Changes from ZMTP 3.0)
type ponger struct {
	net.Conn

	mu        sync.Mutex
	isOld     bool      // the broker has greeted with 3.0
	pongs     []byte    // that are not read yet
	isPartial bool      // a part of them is
	isWoken   bool      // a PONG has ended the Read that blocked, or will end the next one
	deadline  time.Time // of reading, as the user of the connection has set it
}

// setVersion notes the version of the broker.
func (p *ponger) setVersion(v zmtp.Version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isOld = !v.Pings()
}

// answerPing answers a PING in the place of a broker that must not get it, and reports whether it did.
func (p *ponger) answerPing(item zmtp.Item) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isOld || item.Command.Name != zmtp.PING {
		return false
	}
	_, context, _ := zmtp.ParsePing(item.Command.Data) // the stream's reader has checked it
	p.pongs, p.isWoken = zmtp.Pong(context).Append(p.pongs), true
	p.Conn.SetReadDeadline(time.Unix(1, 0)) // a Read that blocks looks for it
	return true
}

// SetReadDeadline implements [net.Conn].
func (p *ponger) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = t
	return p.Conn.SetReadDeadline(t)
}

// read is Read, with the PONGs between two items of the broker.
func (p *ponger) read(b []byte, isBetween bool) (int, error) {
	for {
		if n := p.readPong(b, isBetween); n > 0 {
			return n, nil
		}
		n, err := p.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !p.restoreDeadline() {
			return n, err
		}
	}
}

// readPong reads what there is of PONGs.
func (p *ponger) readPong(b []byte, isBetween bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if isBetween || p.isPartial {
		n = copy(b, p.pongs)
		p.pongs = p.pongs[n:]
		p.isPartial = len(p.pongs) > 0
	}
	return n
}

// restoreDeadline restores the deadline that a PONG has moved; false if none has.
func (p *ponger) restoreDeadline() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isWoken := p.isWoken
	if p.isWoken = false; isWoken {
		p.Conn.SetReadDeadline(p.deadline)
	}
	return isWoken
}
