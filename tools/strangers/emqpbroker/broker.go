package main

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"
)

const version = "eMQP/1.0"

// broker holds everything that peers share, guarded by mu.
type broker struct {
	mutant  int
	variant int
	beat    time.Duration
	dead    time.Duration

	mu         sync.Mutex
	peers      map[string]*peer
	workers    []*peer
	schedulers []*peer
	waiting    []*request // no worker was ready for them
	schedules  []message  // no scheduler was there for them
	steps      int64
	closing    bool // it has received a DISCONNECT
	closed     time.Time

	stuck    bool               // it does nothing any more; only mutants 5, 8 and 9 set it
	asker    *request           // the last one with reply-requested, for mutant 12
	named    map[string][]share // the queues of workers by key, for mutant 21
	informed *peer              // the worker that came last, for mutant 32
}

func newBroker(mutant, variant int, beat, dead time.Duration) *broker {
	if variant == 7 {
		beat *= 5
	}
	return &broker{
		mutant:  mutant,
		variant: variant,
		beat:    beat,
		dead:    dead,
		peers:   map[string]*peer{},
		named:   map[string][]share{},
	}
}

// message is a message behind its empty frame and its version.
type message struct {
	command string
	id      string
	args    []string
}

// counts has the numbers of frames of each command, with the empty one.
var counts = map[string][]int{
	"ACK": {5}, "REPLY": {5}, "HEARTBEAT": {5}, "DISCONNECT": {4}, "KBAI": {4}, "REQUEST": {7}, "PUBLISH": {6, 7},
	"SCHEDULE": {7}, "UNSCHEDULE": {7}, "INFORM": {6}, "READY": {4},
}

// parse reads the frames of a message.
func (b *broker) parse(frames []string) (m message, ok bool) {
	if len(frames) < 4 || frames[0] != "" {
		return m, false
	}
	if frames[1] != version && (b.mutant != 7 || !strings.HasPrefix(frames[1], "eMQP/1")) {
		return m, false
	}
	for _, n := range counts[frames[2]] {
		if n == len(frames) {
			return message{command: frames[2], id: frames[3], args: frames[4:]}, true
		}
	}
	return m, false
}

// receive handles a message, and returns false for one that is malformed.
func (b *broker) receive(p *peer, frames []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.parse(frames)
	if !ok || b.stuck {
		return b.stuck
	}
	if b.mutant != 34 || m.command == "HEARTBEAT" || m.command == "INFORM" {
		p.heard = time.Now()
	}
	if p.first == "" {
		p.first = m.id
	}
	pending := m.command == "REPLY" || b.variant == 14 && m.command == "READY" && time.Since(b.closed) < b.beat
	if b.closing && !pending {
		return true
	}
	switch m.command {
	case "INFORM":
		return b.inform(p, m)
	case "READY":
		b.ready(p, m)
	case "REQUEST":
		b.request(p, m)
	case "REPLY":
		b.reply(p, m)
	case "SCHEDULE":
		b.schedule(p, m)
	case "UNSCHEDULE":
		b.unschedule(p, m)
	case "PUBLISH":
		b.publish(p, m)
	case "DISCONNECT":
		b.disconnect(p)
	case "KBAI":
		b.kbai(p)
	default:
		b.sign(p, m)
	}
	return true
}

// sign handles ACK and HEARTBEAT, which only show that a peer is there.
func (b *broker) sign(p *peer, m message) {
	if m.command == "ACK" && b.mutant == 11 {
		b.forget(p)
	}
	if m.command == "HEARTBEAT" && b.mutant == 17 {
		p.jobs = nil
	}
}

// send puts a message out for a peer, unless it has left or the broker has stopped.
func (b *broker) send(to *peer, command, id string, args ...string) {
	p := b.peers[to.key]
	if p == nil || p.left {
		return
	}
	p.sent = time.Now()
	frames := append([]string{"", version, command, id}, args...)
	select {
	case p.out <- frames:
	default:
		p.link.nc.Close()
	}
}

// ack acknowledges a message.
func (b *broker) ack(p *peer, m message) {
	of := m.id
	if b.mutant == 10 {
		of = p.first
	}
	if b.variant == 3 && m.command != "INFORM" || b.closing {
		return
	}
	b.send(p, "ACK", newID(), of)
}

// newID returns the id of a new message.
func newID() string {
	return rand.Text()
}

// publish takes what is published. The document has no way to subscribe, so no one gets it.
func (b *broker) publish(p *peer, m message) {
	if b.mutant == 5 && len(m.args) == 2 {
		b.stuck = true
		return
	}
	b.ack(p, m)
}
