package engine

// offload is work outside the loop, and the session that is poked afterwards.
type offload struct {
	session Session
	work    func()
}

// Offload queues work: one at a time, so that a thousand sessions that compute at once
// leave the processor to those that have something to send.
func (l *loop) Offload(s Session, work func()) {
	if l.isEnded {
		return
	}
	l.offloads = append(l.offloads, offload{s, work})
	if len(l.offloads) == 1 {
		first := l.offloads[0]
		l.engine.wg.Go(func() { l.runOffloads(first) })
	}
}

// runOffloads does the given work, and then what has been queued behind it.
func (l *loop) runOffloads(next offload) {
	for hasMore := true; hasMore; {
		next.work()
		l.enter()
		if !l.isEnded {
			l.Poke(next.session)
			l.offloads = l.offloads[1:]
		}
		if hasMore = len(l.offloads) > 0; hasMore {
			next = l.offloads[0]
		}
		l.leave()
	}
}
