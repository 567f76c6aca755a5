package main

import (
	"slices"
	"strings"
	"time"
)

// request is what a client wants a worker to do.
type request struct {
	from    string // the key of the client
	id      string
	queue   string
	headers string
	body    string
	reply   bool // reply-requested
	waited  bool // no worker was ready when it came
	given   bool // only mutant 26 sets it
}

// inform makes a peer a worker or a scheduler.
func (b *broker) inform(p *peer, m message) bool {
	switch m.args[1] {
	case roleWorker:
		queues, err := b.parseShares(m.args[0])
		if err != nil {
			b.stuck = b.mutant == 8
			return false
		}
		b.forget(p)
		p.role, p.queues = roleWorker, queues
		if b.mutant == 21 {
			if old, ok := b.named[p.key]; ok {
				p.queues = old
			}
			b.named[p.key] = p.queues
		}
		b.workers = append(b.workers, p)
		b.informed = p
	case roleScheduler:
		if b.mutant == 30 && m.args[0] != "" {
			return false
		}
		b.forget(p)
		p.role = roleScheduler
		b.schedulers = append(b.schedulers, p)
	default:
		return false
	}
	p.left = false
	p.beaten, p.sent = time.Now(), time.Now()
	b.ack(p, m)
	if p.role == roleScheduler {
		b.passOn()
	}
	if b.variant == 11 && p.role == roleWorker {
		p.credit = 1
		b.dispatch()
	}
	return true
}

// ready lets a worker have one more request.
func (b *broker) ready(p *peer, m message) {
	if p.role != roleWorker {
		return
	}
	if b.variant == 4 {
		b.ack(p, m)
	}
	p.credit++
	b.dispatch()
}

// request takes a request, which waits until a worker is ready.
func (b *broker) request(p *peer, m message) {
	p.asked = true
	b.ack(p, m)
	headers := strings.Split(m.args[1], ",")
	for i := range headers {
		headers[i] = strings.TrimSpace(headers[i])
	}
	r := &request{from: p.key, id: m.id, queue: m.args[0], headers: m.args[1], body: m.args[2]}
	r.reply = slices.Contains(headers, "reply-requested")
	if b.mutant == 13 && slices.Contains(headers, "guarantee") {
		r.reply = false
	}
	if b.mutant == 14 {
		p.sticky = p.sticky || r.reply
		r.reply = p.sticky
	}
	if r.reply {
		b.asker = r
	}
	if b.mutant == 24 && b.backlog(r.queue) >= 10 {
		return
	}
	b.waiting = append(b.waiting, r)
	b.dispatch()
	r.waited = true
}

// backlog counts the requests that wait in a queue.
func (b *broker) backlog(queue string) int {
	n := 0
	for _, r := range b.waiting {
		if r.queue == queue {
			n++
		}
	}
	return n
}

// dispatch gives waiting requests to workers that are ready, until no two go together.
func (b *broker) dispatch() {
	for b.match() {
	}
}

// match gives one request to the worker that has waited longest. Of several it may have the one of the highest
// weight goes first, and then the oldest.
func (b *broker) match() bool {
	slices.SortStableFunc(b.workers, func(a, c *peer) int { return int(a.used - c.used) })
	if b.variant == 5 {
		slices.Reverse(b.workers)
	}
	for _, w := range b.workers {
		if w.credit == 0 || w.left {
			continue
		}
		var best *request
		var most int64
		for _, r := range b.waiting {
			if weight, ok := b.serves(w, r); ok && (best == nil || weight > most) {
				best, most = r, weight
			}
		}
		if best != nil {
			b.give(w, best)
			return true
		}
	}
	return false
}

// serves tells whether a worker has named the queue of a request, and with which weight.
func (b *broker) serves(w *peer, r *request) (int64, bool) {
	for i, sh := range w.queues {
		if b.mutant == 23 && r.waited && i > 0 {
			break
		}
		if sh.name == r.queue || b.mutant == 20 && strings.HasPrefix(r.queue, sh.name) {
			return sh.weight, true
		}
	}
	return 0, false
}

// give sends a request to a worker.
func (b *broker) give(w *peer, r *request) {
	b.steps++
	w.used = b.steps
	w.credit--
	if b.mutant == 26 && r.waited && !r.given {
		r.given = true
	} else {
		b.waiting = slices.DeleteFunc(b.waiting, func(o *request) bool { return o == r })
	}
	if r.reply {
		w.jobs = append(w.jobs, r)
	}
	headers := r.headers
	if b.mutant == 2 && len(headers) > 255 {
		headers = headers[:255]
	}
	if b.mutant == 36 {
		headers = without(headers, "reply-requested")
	}
	id := r.id
	if b.variant == 1 {
		id = newID()
	}
	b.send(w, "REQUEST", id, r.queue, headers, r.body)
}

// without takes one value out of headers.
func without(headers, value string) string {
	list := strings.Split(headers, ",")
	return strings.Join(slices.DeleteFunc(list, func(h string) bool { return strings.TrimSpace(h) == value }), ",")
}

// reply passes the reply of a worker to the client that has asked for it.
func (b *broker) reply(p *peer, m message) {
	r := b.settle(p, m.id)
	if r == nil {
		b.stuck = b.mutant == 9
		return
	}
	if b.variant == 4 {
		b.ack(p, m)
	}
	if b.mutant == 12 {
		r = b.asker
	}
	body := m.args[0]
	if b.mutant == 15 && body == "" {
		return
	}
	if b.mutant == 27 {
		body = strings.ToValidUTF8(body, "\ufffd")
	}
	id := m.id
	if b.variant == 2 {
		id = newID()
	}
	b.send(&peer{key: r.from}, "REPLY", id, body)
}

// settle finds the request that a reply is for: the one of its id, or else the oldest that wants a reply.
func (b *broker) settle(p *peer, id string) *request {
	if len(p.jobs) == 0 {
		return nil
	}
	if b.mutant == 16 {
		return p.jobs[0]
	}
	i := max(0, slices.IndexFunc(p.jobs, func(r *request) bool { return r.id == id }))
	r := p.jobs[i]
	p.jobs = slices.Delete(p.jobs, i, i+1)
	return r
}
