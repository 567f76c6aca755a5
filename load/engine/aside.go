package engine

// aside is work outside the loop, and the session that is poked afterwards.
type aside struct {
	session Session
	work    func()
}

// Aside queues work: one at a time, so that a thousand sessions that compute at once
// leave the processor to those that have something to send.
func (l *loop) Aside(s Session, work func()) {
	if l.ended {
		return
	}
	l.asides = append(l.asides, aside{s, work})
	if len(l.asides) == 1 {
		first := l.asides[0]
		l.engine.wg.Go(func() { l.workAside(first) })
	}
}

// workAside does the given work, and then what has been queued behind it.
func (l *loop) workAside(next aside) {
	for more := true; more; {
		next.work()
		l.enter()
		if !l.ended {
			l.Poke(next.session)
			l.asides = l.asides[1:]
		}
		if more = len(l.asides) > 0; more {
			next = l.asides[0]
		}
		l.leave()
	}
}
