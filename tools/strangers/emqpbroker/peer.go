package main

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"time"
)

// The roles of a peer. A client has none: it sends no INFORM.
const (
	roleWorker    = "worker"
	roleScheduler = "scheduler"
)

// peer is who is at the other end of a connection. Its fields are guarded by the mutex of the broker.
type peer struct {
	key  string // the socket and the identity
	sock string
	link *link
	out  chan []string

	role   string
	queues []share
	credit int        // requests that it may be sent, one for each READY
	jobs   []*request // those that it has and whose clients want a reply
	left   bool       // it has sent KBAI
	heard  time.Time
	sent   time.Time
	beaten time.Time
	used   int64 // when it was last given something, in steps of the broker

	beatID string // only mutant 4 has one
	first  string // the id of its first message, for mutant 10
	sticky bool   // it has asked for a reply before, for mutant 14
	asked  bool   // it has sent a REQUEST, for mutant 35
}

// serve accepts the connections of one ROUTER socket.
func (b *broker) serve(l net.Listener, sock string) {
	for {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		go b.talk(nc, sock)
	}
}

// talk serves one connection until it ends.
func (b *broker) talk(nc net.Conn, sock string) {
	defer nc.Close()
	l := &link{nc: nc, br: bufio.NewReaderSize(nc, 64<<10), mutant: b.mutant, variant: b.variant}
	identity, err := l.greet()
	if err != nil {
		return
	}
	p := &peer{sock: sock, link: l, out: make(chan []string, 10000)}
	b.arrive(p, identity)
	defer b.depart(p)
	over := make(chan struct{})
	defer close(over)
	go p.writes(over)
	for {
		frames, err := l.message()
		if err != nil {
			return
		}
		if !b.receive(p, frames) && b.variant == 13 {
			return
		}
	}
}

// writes sends what is put out for a peer.
func (p *peer) writes(over <-chan struct{}) {
	for {
		select {
		case frames := <-p.out:
			if p.link.sendMessage(frames) != nil {
				return
			}
		case <-over:
			return
		}
	}
}

// arrive makes a peer known. One that comes back with its identity takes the place of its old connection.
func (b *broker) arrive(p *peer, identity string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steps++
	p.key = p.sock + "/" + identity
	if identity == "" {
		p.key = fmt.Sprintf("%s/\x00%d", p.sock, b.steps)
	}
	if identity == "" && b.mutant == 3 {
		p.key = p.sock + "/\x00"
	} else if old := b.peers[p.key]; old != nil {
		b.forget(old)
		old.link.nc.Close()
	}
	b.peers[p.key] = p
}

// depart forgets a peer whose connection is over.
func (b *broker) depart(p *peer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mutant != 28 || p.role != roleScheduler {
		b.forget(p)
	}
	if b.peers[p.key] == p {
		delete(b.peers, p.key)
	}
	if b.mutant == 25 {
		b.waiting = slices.DeleteFunc(b.waiting, func(r *request) bool { return r.from == p.key })
	}
}

// forget takes away the role of a peer: it is sent no requests, schedules or heartbeats.
func (b *broker) forget(p *peer) {
	p.role, p.credit = "", 0
	same := func(o *peer) bool { return o == p }
	b.workers = slices.DeleteFunc(b.workers, same)
	b.schedulers = slices.DeleteFunc(b.schedulers, same)
}
