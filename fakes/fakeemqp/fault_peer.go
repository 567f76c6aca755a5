package fakeemqp

import (
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/zmtp"
)

// schedulerFaults are about PUBLISH, SCHEDULE and UNSCHEDULE.
func schedulerFaults() []Fault {
	return []Fault{
		fault("schedule-lost", "SCHED-01 SCHED-02 INF-04", "a SCHEDULE is lost", received(drop, emqp.SCHEDULE)),
		fault("schedule-queue-changed", "SCHED-01", "the queue of a SCHEDULE is missing where it arrives",
			sent(set(atFirst, ""), emqp.SCHEDULE)),
		fault("schedule-message-changed", "SCHED-01", "the message of a SCHEDULE is another one where it arrives",
			sent(set(atMessage, "{}"), emqp.SCHEDULE)),
		fault("schedule-headers-lost", "SCHED-02", "the headers of a SCHEDULE do not arrive",
			sent(set(atHeaders, ""), emqp.SCHEDULE)),
		fault("unschedule-lost", "UNSCH-01", "an UNSCHEDULE is lost", received(drop, emqp.UNSCHEDULE)),
		statefulFault("unschedule-one", "UNSCH-01", "one scheduler alone gets an UNSCHEDULE", func() func(*Event) {
			passed := map[string]bool{}
			return sent(func(e *Event) {
				id := string(e.Frames[atID])
				e.Drop, passed[id] = passed[id], true
			}, emqp.UNSCHEDULE)
		}),
	}
}

// heartbeatFaults are about HEARTBEAT.
func heartbeatFaults() []Fault {
	none := func(role Role) func(*Event) {
		return sent(func(e *Event) { e.Drop = e.Role == role }, emqp.HEARTBEAT)
	}
	stamp := func(text string) func(*Event) { return sent(set(atFirst, text), emqp.HEARTBEAT) }
	return []Fault{
		fault("heartbeat-no-worker", "BEAT-01 BEAT-03 BEAT-05 SOCK-08", "workers get no HEARTBEATs", none(Worker)),
		fault("heartbeat-no-scheduler", "BEAT-02", "schedulers get no HEARTBEATs", none(Scheduler)),
		statefulFault("heartbeat-once", "BEAT-01 BEAT-02 BEAT-05 SOCK-08",
			"a peer gets one HEARTBEAT, and no more", func() func(*Event) {
				beaten := map[string]bool{}
				return sent(func(e *Event) {
					e.Drop, beaten[e.Peer] = beaten[e.Peer], true
				}, emqp.HEARTBEAT)
			}),
		fault("heartbeat-date", "BEAT-03", "a HEARTBEAT has a date", stamp("2026-11-21T12:00:00Z")),
		fault("heartbeat-milliseconds", "BEAT-03", "a HEARTBEAT has milliseconds",
			stamp(strconv.FormatInt(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC).UnixMilli(), 10))),
		fault("heartbeat-uptime", "BEAT-03", "a HEARTBEAT has the seconds since the broker was started", stamp("12")),
		statefulFault("heartbeat-before-inform", "BEAT-04", "a client gets HEARTBEATs after a PUBLISH",
			acksOf(emqp.PUBLISH, func(id, _ string) emqp.Message { return emqp.Heartbeat(id, time.Now()) })),
		fault("heartbeat-ignored", "BEAT-05 BEAT-01 SOCK-08",
			"the HEARTBEATs of a worker do not count", received(drop, emqp.HEARTBEAT)),
		fault("heartbeat-alone-counts", "BEAT-06", "a worker without HEARTBEATs has disconnected, whatever else it sends",
			received(drop, emqp.ACK)),
	}
}

// endFaults are about DISCONNECT and KBAI.
func endFaults() []Fault {
	kbaiOf := func(role Role) func(*Event) {
		return received(func(e *Event) { e.Drop = e.Role == role }, emqp.KBAI)
	}
	return []Fault{
		fault("disconnect-ignored", "DISC-01", "DISCONNECT is ignored", received(drop, emqp.DISCONNECT)),
		fault("disconnect-no-kbai", "DISC-01", "after a DISCONNECT there is no KBAI", sent(drop, emqp.KBAI)),
		fault("disconnect-kbai-to-workers", "DISC-01", "after a DISCONNECT workers alone get a KBAI",
			sent(func(e *Event) { e.Drop = e.Role != Worker }, emqp.KBAI)),
		fault("disconnect-goes-on", "DISC-02", "the broker goes on after a DISCONNECT",
			received(func(e *Event) { e.Stay = true }, emqp.DISCONNECT)),
		fault("kbai-worker-ignored", "KBAI-01", "the KBAI of a worker is ignored", kbaiOf(Worker)),
		fault("kbai-scheduler-ignored", "KBAI-02", "the KBAI of a scheduler is ignored", kbaiOf(Scheduler)),
	}
}

// malformedFaults keep a broker from serving others. What is not served any more are the queues that the message names.
func malformedFaults() []Fault {
	hangs := func(name, clause, summary string, when func(*Event) bool) Fault {
		return statefulFault(name, clause, summary, func() func(*Event) {
			named := map[string]bool{}
			return func(e *Event) {
				switch {
				case !e.Sent && when(e):
					for _, f := range e.Frames {
						named[string(f)] = true
					}
				case !e.Sent && is(e, emqp.REQUEST):
					e.Drop = named[string(e.Frames[atFirst])]
				}
			}
		})
	}
	malformed := func(also func([][]byte) bool) func(*Event) bool {
		return func(e *Event) bool { return !is(e) && also(e.Frames) }
	}
	return []Fault{
		hangs("malformed-hangs", "FRAME-07 INF-03", "after a malformed message REQUESTs are lost",
			malformed(func([][]byte) bool { return true })),
		hangs("malformed-command-hangs", "FRAME-07", "after a command that does not exist REQUESTs are lost",
			malformed(func(f [][]byte) bool { return len(f) > atCommand && emqp.Shapes(string(f[atCommand])) == nil })),
		hangs("malformed-short-hangs", "FRAME-07", "after a message of few frames REQUESTs are lost",
			malformed(func(f [][]byte) bool { return len(f) <= atID })),
		hangs("publish-hangs", "PUB-01",
			"after a PUBLISH REQUESTs are lost", func(e *Event) bool { return is(e, emqp.PUBLISH) }),
		hangs("publish-six-hangs", "PUB-01", "after a PUBLISH of six frames REQUESTs are lost", func(e *Event) bool {
			return is(e, emqp.PUBLISH) && len(e.Frames) == atMessage
		}),
	}
}

// Variation is a way in which a broker may differ from the usual one without breaking the document.
type Variation struct {
	Name    string // a slug that never changes
	Summary string
	Config  func() Config // of a broker of its own
	Single  bool          // it has one socket for all peers
	Leaves  []string      // clauses that cannot be decided on such a broker
}

// Variations returns the catalogue, in no certain order.
func Variations() []Variation {
	hooked := func(hook func(*Event)) func() Config { return func() Config { return Config{Hook: hook} } }
	return append([]Variation{
		{
			Name: "no-acks", Summary: "nothing is acknowledged", Config: hooked(sent(drop, emqp.ACK)),
			Leaves: []string{"EMQP-ACK-01"},
		},
		{Name: "inform-acks-only", Summary: "INFORM alone is acknowledged", Config: informAcksOnly},
		{Name: "late-acks", Summary: "an ACK takes 300 ms", Config: hooked(sent(func(e *Event) {
			e.Delay = 300 * time.Millisecond
		}, emqp.ACK))},
		{Name: "late-requests", Summary: "a REQUEST takes 2 s", Config: hooked(sent(func(e *Event) {
			e.Delay = 2 * time.Second
		}, emqp.REQUEST))},
		{Name: "own-ids", Summary: "the broker gives what it passes on an id of its own", Config: func() Config {
			n := 0
			return Config{Hook: sent(func(e *Event) {
				n++
				set(atID, "passed-on-"+strconv.Itoa(n))(e)
			}, emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE)}
		}},
		{Name: "fractions", Summary: "the timestamp of a HEARTBEAT has a fraction", Config: hooked(
			sent(change(atFirst, func(b []byte) []byte { return append(slices.Clone(b), ".25"...) }), emqp.HEARTBEAT))},
		{Name: "kbai-closes", Summary: "the connection of a peer that has sent KBAI is closed", Config: hooked(
			received(func(e *Event) { e.Disconnect = true }, emqp.KBAI))},
		{
			Name: "malformed-closes", Summary: "the connection of a peer that sends a malformed message is closed",
			Config: hooked(func(e *Event) { e.Disconnect = !e.Sent && !is(e) }),
		},
		{Name: "one-socket", Summary: "clients and workers have one socket", Config: hooked(nil), Single: true},
	}, settings()...)
}

// informAcksOnly returns the settings of a broker that acknowledges nothing but INFORMs.
func informAcksOnly() Config {
	informs := map[string]bool{} // ids
	return Config{Hook: func(e *Event) {
		switch {
		case !e.Sent && is(e, emqp.INFORM):
			informs[string(e.Frames[atID])] = true
		case e.Sent && is(e, emqp.ACK):
			e.Drop = !informs[string(e.Frames[atFirst])]
		}
	}}
}

// settings are the variations that other settings make.
func settings() []Variation {
	return []Variation{
		{Name: "often", Summary: "a HEARTBEAT every half second", Config: func() Config {
			return Config{Interval: time.Second / 2, Timeout: 9 * time.Second}
		}},
		{Name: "seldom", Summary: "a HEARTBEAT every 15 s", Config: func() Config {
			return Config{Interval: 15 * time.Second}
		}},
		{Name: "in-pieces", Summary: "the greeting comes in two pieces", Config: func() Config {
			var c Config
			c.Router.InPieces = true
			return c
		}},
		{Name: "pings", Summary: "the broker sends a PING every second", Config: func() Config {
			var c Config
			c.Router.Ping = time.Second
			return c
		}},
		{Name: "properties", Summary: "READY has properties of the broker's own", Config: func() Config {
			var c Config
			c.Router.Properties = append(c.Router.Properties, property("X-Version", "7"))
			return c
		}},
		{Name: "identity", Summary: "the broker announces an identity", Config: func() Config {
			var c Config
			c.Router.Identity = "broker"
			return c
		}},
	}
}

func property(name, value string) zmtp.Property {
	return zmtp.Property{Name: name, Value: []byte(value)}
}
