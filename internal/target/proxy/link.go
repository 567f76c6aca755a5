package proxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// link is one connection that is passed on.
type link struct {
	proxy  *Proxy
	number int
	once   sync.Once // the first end is the one that counts
	isOver atomic.Bool
}

// Sizes of the buffer of a direction: most connections are idle, and there may be thousands.
const (
	idleBuffer = 2 << 10
	busyBuffer = 16 << 10
)

// copy passes the bytes of one side on to the other until it ends, and then ends the other in the same way.
func (l *link) copy(to, from net.Conn, side Side) {
	dir := &direction{proxy: l.proxy, from: side, number: l.number}
	buffer := make([]byte, idleBuffer)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			wantsPassed := l.reportPassing(side, buffer[:n])
			if writeErr := dir.write(to, buffer[:n]); writeErr != nil {
				reset(from)
				return
			}
			if wantsPassed {
				l.proxy.config.Observer.Passed(l.number, side)
			}
		}
		if err != nil {
			l.end(to, side, !errors.Is(err, io.EOF))
			return
		}
		if n == len(buffer) && n < busyBuffer {
			buffer = make([]byte, busyBuffer)
		}
	}
}

// end ends the other side as the first has ended.
func (l *link) end(to net.Conn, by Side, isBroken bool) {
	l.reportEnd(by, isBroken)
	l.proxy.awaitPassage(by)
	half, ok := to.(interface{ CloseWrite() error })
	if isBroken || !ok {
		reset(to)
		return
	}
	_ = half.CloseWrite()
}

func (l *link) reportOpen() {
	if o := l.proxy.config.Observer; o != nil {
		o.Opened(l.number)
	}
}

func (l *link) reportPassing(from Side, data []byte) (wantsPassed bool) {
	o := l.proxy.config.Observer
	return o != nil && !l.isOver.Load() && o.Passing(l.number, from, data)
}

func (l *link) reportEnd(by Side, isReset bool) {
	l.once.Do(func() {
		l.isOver.Store(true)
		if o := l.proxy.config.Observer; o != nil {
			o.Ended(l.number, by, isReset)
		}
	})
}
