package main

// schedule passes a job to a scheduler, and keeps it as long as there is none.
func (b *broker) schedule(p *peer, m message) {
	b.ack(p, m)
	b.schedules = append(b.schedules, m)
	b.passOn()
}

// passOn gives what is to be scheduled to the schedulers in turn.
func (b *broker) passOn() {
	for len(b.schedules) > 0 {
		var to *peer
		for _, s := range b.schedulers {
			if !s.left && (to == nil || s.used < to.used) {
				to = s
			}
		}
		if to == nil {
			return
		}
		m := b.schedules[0]
		b.schedules = b.schedules[1:]
		b.steps++
		to.used = b.steps
		headers := m.args[1]
		if b.mutant == 37 && headers == "" {
			headers = "{}"
		}
		b.send(to, "SCHEDULE", m.id, m.args[0], headers, m.args[2])
	}
}

// unschedule tells all schedulers.
func (b *broker) unschedule(p *peer, m message) {
	b.ack(p, m)
	for _, s := range b.schedulers {
		if b.mutant == 29 && s.used == 0 {
			continue
		}
		b.send(s, "UNSCHEDULE", m.id, m.args...)
	}
}
