package emqp

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// receive handles what a peer has sent.
func (b *Broker) receive(from address, frames [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := Event{Peer: from.identity, Frames: frames, socket: from.socket}
	if p := b.peers[from]; p != nil {
		e.Role = p.role
	}
	if b.config.Hook != nil {
		b.config.Hook(&e)
	}
	m, err := emqp.Parse(e.Frames)
	for i := 0; i <= e.Repeats && !e.Drop && err == nil && !b.isLeaving; i++ {
		b.handle(from, m, e.Stay)
	}
	if e.Disconnect {
		b.sockets[from.socket].Disconnect(from.identity)
	}
}

// handle does what a message asks for. With stay the broker goes on after a DISCONNECT.
func (b *Broker) handle(from address, m emqp.Message, stay bool) {
	p := b.peers[from]
	if p == nil {
		p = &peer{address: from}
		b.peers[from] = p
	}
	if m.Command != emqp.DISCONNECT { // any other command acts as a heartbeat (Heartbeating)
		p.lastReceived = time.Now()
	}
	switch m.Command {
	case emqp.INFORM:
		b.inform(p, m)
	case emqp.READY:
		b.ready(p)
	case emqp.REQUEST, emqp.PUBLISH, emqp.SCHEDULE, emqp.UNSCHEDULE:
		b.acknowledge(p, m)
		b.accept(p, m)
	case emqp.REPLY:
		b.reply(p, m)
	case emqp.DISCONNECT:
		b.leave(stay)
	case emqp.KBAI:
		b.forget(from)
	}
}

func (b *Broker) acknowledge(p *peer, m emqp.Message) {
	_ = b.send(p, emqp.Ack(b.id(), m.ID)) // a peer that cannot be sent to needs no ACK
}

// inform learns what a peer is. A peer that informs again begins anew. (eMQP / Scheduler, eMQP / Worker)
func (b *Broker) inform(p *peer, m emqp.Message) {
	b.retire(p)
	p.credit, p.replyTo = 0, nil
	b.acknowledge(p, m)
	defer b.wakeClock()
	if string(m.Fields[1]) == emqp.TypeScheduler {
		p.role, p.number = Scheduler, b.ids
		for _, j := range b.schedule {
			_ = b.send(p, j.message)
		}
		b.waitingCount -= len(b.schedule)
		b.schedule = nil
		return
	}
	p.role = Worker
	p.queues, _ = emqp.ParseQueues(string(m.Fields[0])) // Parse has checked it
	slices.SortStableFunc(p.queues, func(x, y emqp.Queue) int { return cmp.Compare(y.Weight, x.Weight) })
	b.workers = append(b.workers, p)
}

// ready gives a worker one more message, now or later. (eMQP / Worker)
func (b *Broker) ready(p *peer) {
	if p.role == Worker {
		p.credit++
		b.dispatch()
	}
}

// accept takes what a client, or a scheduler whose time has come, asks for. (eMQP / Client)
func (b *Broker) accept(p *peer, m emqp.Message) {
	j := job{p.address, m}
	switch m.Command {
	case emqp.REQUEST:
		if b.hasRoom() {
			name := string(m.Fields[0])
			b.queues[name] = append(b.queues[name], j)
			b.dispatch()
		}
	case emqp.SCHEDULE, emqp.UNSCHEDULE:
		if !b.sendToSchedulers(m) && b.hasRoom() {
			b.schedule = append(b.schedule, j)
		}
	}
}

// hasRoom counts one more message that waits, if there is room for it.
func (b *Broker) hasRoom() bool {
	if b.waitingCount >= b.config.MaxWaiting {
		b.droppedCount++
		return false
	}
	b.waitingCount++
	return true
}

// sendToSchedulers sends SCHEDULE to one scheduler, and UNSCHEDULE to all of them. It returns false if there is none.
func (b *Broker) sendToSchedulers(m emqp.Message) bool {
	var all []*peer
	for _, p := range b.peers {
		if p.role == Scheduler {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(x, y *peer) int {
		return cmp.Or(x.lastSent.Compare(y.lastSent), cmp.Compare(x.number, y.number))
	})
	if m.Command == emqp.SCHEDULE && len(all) > 1 {
		all = all[:1]
	}
	for _, p := range all {
		_ = b.send(p, m)
	}
	return len(all) > 0
}

// dispatch sends messages to workers that have credit, as long as there are both. Workers take turns; each gets
// the oldest message of the queue that has the highest weight for it.
func (b *Broker) dispatch() {
	for i := 0; i < len(b.workers); {
		p := b.workers[i]
		name, ok := b.next(p)
		if !ok {
			i++
			continue
		}
		j := b.queues[name][0]
		if err := b.send(p, j.message); errors.Is(err, zmtp.ErrUnknown) {
			b.forget(p.address)
			continue
		} else if err != nil { // it does not read; the next READY tries again
			i++
			continue
		}
		b.recordDelivery(p, name, j)
		i = 0
	}
}

// next returns the queue from which a worker gets its next message, if it can have one.
func (b *Broker) next(p *peer) (name string, ok bool) {
	if p.credit == 0 {
		return "", false
	}
	i := slices.IndexFunc(p.queues, func(q emqp.Queue) bool { return len(b.queues[q.Name]) > 0 })
	if i < 0 {
		return "", false
	}
	return p.queues[i].Name, true
}

// recordDelivery records that a worker was sent the first message of a queue.
func (b *Broker) recordDelivery(p *peer, name string, j job) {
	if b.queues[name] = b.queues[name][1:]; len(b.queues[name]) == 0 {
		delete(b.queues, name)
	}
	b.waitingCount--
	p.credit--
	if headers, _ := emqp.ParseHeaders(string(j.message.Fields[1])); headers.Has(emqp.ReplyRequested) {
		p.replyTo = append(p.replyTo, j.from)
	}
	i := slices.Index(b.workers, p)
	b.workers = append(slices.Delete(b.workers, i, i+1), p)
}

// reply passes the reply of a worker on. (Global Frames)
func (b *Broker) reply(p *peer, m emqp.Message) {
	if len(p.replyTo) == 0 {
		return
	}
	to := b.peers[p.replyTo[0]]
	p.replyTo = p.replyTo[1:]
	if to != nil {
		_ = b.send(to, emqp.Reply(b.id(), string(m.Fields[0])))
	}
}

// leave sends a KBAI to all peers. Unless stay is set, the broker sends and handles nothing from then on. (DISCONNECT
// and KBAI)
func (b *Broker) leave(stay bool) {
	for _, p := range b.peers {
		_ = b.send(p, emqp.Kbai(b.id()))
	}
	if b.isLeaving = !stay; b.isLeaving && b.config.Stops {
		const moment = 200 * time.Millisecond // the KBAIs are sent then
		time.AfterFunc(moment, b.Close)
	}
}

// retire takes a worker from the list of those that get messages.
func (b *Broker) retire(p *peer) {
	b.workers = slices.DeleteFunc(b.workers, func(w *peer) bool { return w == p })
}

// forget removes a peer, which is sent nothing more. (Heartbeating, DISCONNECT and KBAI)
func (b *Broker) forget(at address) {
	if p := b.peers[at]; p != nil {
		b.retire(p)
		delete(b.peers, at)
	}
}
