package fakes

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func connectionVariations() []Variation {
	return []Variation{
		variation("producer-idle-closed", "AMB-37",
			"the connection of a producer that is idle for 1 s is closed",
			on(Writing, func(e *Event) {
				if e.Conn.isProducer() {
					e.Later = &Later{After: time.Second, Close: true}
				}
			})),
		variation("producer-refused-closed", "End State",
			"the connection of a producer is closed after a command that was refused",
			on(Ran, func(e *Event) {
				if e.Err != nil && e.Conn.isProducer() {
					e.Close = true
				}
			})),
		setting("connections-limited", "AMB-14",
			"the 21st connection is answered with an error and closed",
			func(c *Config) { c.MaxConnections = 20 }),
		variation("connections-limited-mute", "AMB-14",
			"the 21st connection is closed without a greeting",
			on(Accepted, func(e *Event) { e.Skip = e.Conn.server.Connections() > 20 })),
		setting("consumer-silent-closed", "AMB-23",
			"the connection of a worker that has not sent a BEAT for 60 s is closed at its next command, "+
				"by a server that is 100 ms away",
			func(c *Config) {
				c.add(withoutBeat())
				c.add(away(100 * time.Millisecond))
			}),
		variation("told-closes", "End State",
			"the connection of a worker is closed after a BEAT was answered with a change of state",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.State != "" {
					e.Close = true
				}
			})).Leaving("beat/nothing-unasked"),
	}
}

func endVariations() []Variation {
	return []Variation{
		setting("end-without-ok", "AMB-01",
			"END is answered with a close, without OK",
			func(c *Config) { c.EndWithoutOK = true }),
		variation("end-late", "AMB-01",
			"the connection is closed 0.9 s after the OK to END",
			atEnd(func(e *Event) { e.Close, e.Later = false, &Later{After: 900 * time.Millisecond, Close: true} })),
		setting("end-late-without-ok", "AMB-01",
			"the connection is closed 0.9 s after END, without an OK",
			func(c *Config) {
				c.EndWithoutOK = true
				c.add(atEnd(func(e *Event) { e.Delay = 900 * time.Millisecond }))
			}),
		variation("end-reset", "AMB-01",
			"the connection is reset after the OK to END",
			atEnd(func(e *Event) { e.Reset = true })),
	}
}

// atEnd returns a hook that acts before the connection is closed after an END.
func atEnd(act func(*Event)) func(*Event) {
	return when(Writing, fwp.END, func(e *Event) {
		if e.Err == nil && e.Close {
			act(e)
		}
	})
}

// withoutBeat closes the connections of workers that have not sent a BEAT in time.
func withoutBeat() func(*Event) {
	var mu sync.Mutex
	alive := make(map[string]time.Time) // when a wid sent a HELLO or BEAT
	return on(Ran, func(e *Event) {
		if e.Conn.Worker == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch last, known := alive[e.Conn.Worker]; {
		case !known || e.Command.Verb == fwp.HELLO || e.Command.Verb == fwp.BEAT:
			alive[e.Conn.Worker] = time.Now()
		case time.Since(last) > time.Minute:
			e.Reply, e.Close = fwp.Reply{}, true
		}
	})
}
