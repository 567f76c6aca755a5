package session

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
)

const (
	// smallSize is the size of a message up to which every connection may read at any time, and how many bytes of
	// messages it reads ahead of those that were taken.
	smallSize = 64 << 10
	// maxLargeReaders is how many connections that share a Budget may be reading a larger message.
	maxLargeReaders = 2
)

// Budget limits the memory that the peers of many connections can fill together: two of the connections that
// share it may read a message of more than 64 KiB at a time, and the others wait. The zero value is ready. It is safe
// for concurrent use.
type Budget struct {
	mu      sync.Mutex
	readers int
	freed   chan struct{} // closed when there is room again; nil if no connection waits
}

// take takes one of the places, or returns a channel that is closed when it is worth another try.
func (b *Budget) take() (freed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readers < maxLargeReaders {
		b.readers++
		return nil
	}
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// release gives a place back.
func (b *Budget) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers--
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// allowance is one connection's part of a budget. Only the goroutine that reads uses it, but for interrupt.
type allowance struct {
	budget  *Budget
	closing <-chan struct{} // of the connection

	unfinished    int // bytes that were read of the present message
	holdsPlace    bool
	isInterrupted atomic.Bool   // a wait is given up, until the reader has reported it
	wake          chan struct{} // capacity 1: isInterrupted may have been set
}

func newAllowance(budget *Budget, closing <-chan struct{}) *allowance {
	if budget == nil {
		budget = new(Budget)
	}
	return &allowance{budget: budget, closing: closing, wake: make(chan struct{}, 1)}
}

// await blocks until more of the present message may be read. It returns os.ErrDeadlineExceeded if the wait is given
// up before, and net.ErrClosed if the connection is closed.
func (a *allowance) await() error {
	for a.unfinished > smallSize && !a.holdsPlace {
		if a.isInterrupted.Load() {
			return os.ErrDeadlineExceeded
		}
		freed := a.budget.take()
		if freed == nil {
			a.holdsPlace = true
			return nil
		}
		select {
		case <-freed:
		case <-a.wake:
		case <-a.closing:
			return net.ErrClosed
		}
	}
	return nil
}

// waits reports whether a message is unfinished only because others are read first.
func (a *allowance) waits() bool { return a.unfinished > smallSize && !a.holdsPlace }

// interrupt makes await return, now or when it is called next, until the end of the wait is reported.
func (a *allowance) interrupt() {
	a.isInterrupted.Store(true)
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// finish records that a message is complete and taken, and how many bytes of the next one were read.
func (a *allowance) finish(next int) {
	a.unfinished = next
	if a.holdsPlace {
		a.holdsPlace = false
		a.budget.release()
	}
}
