package main

import (
	"slices"
	"strconv"
	"time"
)

// disconnect tells all peers, and stops. Only replies to requests that workers have already are passed on.
func (b *broker) disconnect(from *peer) {
	for _, p := range b.peers {
		if b.mutant == 38 && p.sock != from.sock {
			continue
		}
		b.send(p, "KBAI", newID())
	}
	b.closing, b.closed = true, time.Now()
}

// kbai forgets a peer that disconnects. What it has begun it may still report.
func (b *broker) kbai(p *peer) {
	if b.mutant == 22 && p.role == roleWorker && len(p.queues) > 1 {
		p.queues = slices.Clone(p.queues[1:])
		p.beaten = time.Now().Add(24 * time.Hour)
		p.sent = p.beaten
		return
	}
	if b.mutant == 40 && p.role == "" {
		return
	}
	b.forget(p)
	p.left = true
}

// beats sends heartbeats, and gives up workers and schedulers that are silent.
func (b *broker) beats() {
	for range time.Tick(b.beat / 8) {
		b.mu.Lock()
		if !b.stuck && (!b.closing || b.mutant == 39) {
			b.tick(time.Now())
		}
		b.mu.Unlock()
	}
}

// tick looks at every peer.
func (b *broker) tick(now time.Time) {
	for _, p := range b.peers {
		if p.role != "" && now.Sub(p.heard) > b.dead && b.variant != 9 {
			b.forget(p)
		}
		if b.beatDue(p, now) {
			p.beaten = now
			b.send(p, "HEARTBEAT", b.beatID(p), b.timestamp(now))
		}
	}
}

// beatDue tells whether a peer needs a heartbeat: it has sent INFORM, and was sent nothing for an interval.
func (b *broker) beatDue(p *peer, now time.Time) bool {
	last := p.sent
	if b.variant == 8 {
		last = p.beaten
	}
	switch {
	case b.mutant == 31 && p.heard.After(last):
		last = p.heard
	case b.mutant == 32 && p.role == roleWorker && p != b.informed,
		b.mutant == 33 && p.role == roleScheduler && len(b.workers) == 0:
		return false
	}
	if p.role == "" && (b.mutant != 35 || !p.asked) {
		return false
	}
	return now.Sub(last) >= b.beat
}

// beatID returns the id of a heartbeat.
func (b *broker) beatID(p *peer) string {
	if b.mutant != 4 {
		return newID()
	}
	if p.beatID == "" {
		p.beatID = newID()
	}
	return p.beatID
}

// timestamp returns the unix time in seconds.
func (b *broker) timestamp(now time.Time) string {
	if b.mutant == 6 {
		return strconv.FormatInt(now.UnixMilli(), 10)
	}
	if b.variant == 10 {
		return strconv.FormatFloat(float64(now.UnixMicro())/1e6, 'f', 6, 64)
	}
	return strconv.FormatInt(now.Unix(), 10)
}
