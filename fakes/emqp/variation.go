package emqp

import (
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Variation is a way in which a broker may differ from the usual one without breaking the document.
type Variation struct {
	Name    string // a slug that never changes
	Summary string
	Config  func() Config // of a broker of its own
	Single  bool          // it has one socket for all peers
	Allows  []allow.Row
}

// Variations returns the catalogue, in no certain order.
func Variations() []Variation { return slices.Clone(variations) }

var variations = []Variation{
	hooked("no-acks", "nothing is acknowledged", sent(drop, emqp.ACK),
		"allow undecided EMQP-ACK-01: the document does not say which messages are acknowledged (EMQP-ACK-03)"),
	hooked("inform-acks-only", "INFORM alone is acknowledged", informAcksOnly),
	hooked("late-acks", "an ACK takes 300 ms", sent(delay(300*time.Millisecond), emqp.ACK)),
	hooked("late-requests", "a REQUEST takes 2 s", sent(delay(2*time.Second), emqp.REQUEST)),
	hooked("own-ids", "the broker gives what it passes on an id of its own, which is no text", ownIDs),
	hooked("fractions", "the timestamp of a HEARTBEAT has a fraction",
		sent(change(atFirst, func(b []byte) []byte { return append(slices.Clone(b), ".25"...) }), emqp.HEARTBEAT)),
	hooked("schedule-twice", "a scheduler gets each SCHEDULE and UNSCHEDULE twice",
		sent(func(e *Event) { e.Again = 1 }, emqp.SCHEDULE, emqp.UNSCHEDULE)),
	hooked("ready-flag", "several READYs of a worker without a REQUEST between them count as one", readyFlag),
	hooked("kbai-closes", "the connection of a peer that has sent KBAI is closed",
		received(func(e *Event) { e.Disconnect = true }, emqp.KBAI)),
	hooked("malformed-closes", "the connection of a peer that sends a malformed message is closed",
		func(e *Event) { e.Disconnect = malformed(e) }),
	{
		Name: "one-socket", Summary: "clients and workers have one socket", Single: true,
		Config: func() Config { return Config{} },
	},
	with("stops", "the broker ends a moment after a DISCONNECT", Config{Stops: true}),
	with("often", "a HEARTBEAT every half second", Config{Interval: time.Second / 2, Timeout: 9 * time.Second}),
	with("seldom", "a HEARTBEAT every 15 s", Config{Interval: 15 * time.Second}),
	routing("in-pieces", "the greeting comes in two pieces", zmtp.Config{InPieces: true}),
	routing("pings", "the broker sends a PING every second", zmtp.Config{Ping: time.Second}),
	routing("properties", "READY has a property of the broker's own, and behind it the socket type, in small letters",
		zmtp.Config{Properties: []zmtp.Property{
			{Name: "X-Version", Value: []byte("7")}, {Name: "socket-type", Value: []byte(zmtp.ROUTER)},
		}}),
	routing("identity", "the broker announces an identity", zmtp.Config{Identity: "broker"}),
}

// hooked returns a variation that a hook makes, or a function that makes one for each broker, and what it allows.
func hooked[H catalogue.Hook[Event]](name, summary string, hook H, allows ...string) Variation {
	maker := catalogue.Maker[Event](hook)
	config := func() Config { return Config{Hook: maker()} }
	rows := allow.Rows("fakes/emqp/variation.go: "+name, allows...)
	return Variation{Name: name, Summary: summary, Config: config, Allows: rows}
}

// with returns a variation of the settings, and routing one of the sockets.
func with(name, summary string, c Config) Variation {
	return Variation{Name: name, Summary: summary, Config: func() Config { return c }}
}

func routing(name, summary string, c zmtp.Config) Variation {
	return with(name, summary, Config{Router: zmtp.RouterConfig{Config: c}})
}

func delay(d time.Duration) func(*Event) { return func(e *Event) { e.Delay = d } }

// informAcksOnly acknowledges nothing but INFORMs.
func informAcksOnly() func(*Event) {
	watched := catalogue.Any(got(emqp.INFORM), gives(emqp.ACK))
	return catalogue.KeepBy(acknowledgedOf, watched, func(informed *bool, e *Event) {
		if e.Sent {
			e.Drop = !*informed
			return
		}
		*informed = true
	})()
}

// ownIDs numbers what is passed on, with bytes that a script has to quote.
func ownIDs() func(*Event) {
	return catalogue.Keep(gives(emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE), func(n *int, e *Event) {
		*n++
		set(atID, "\xff, \"]"+strconv.Itoa(*n))(e)
	})()
}

// readyFlag takes READYs without a REQUEST between them as one.
func readyFlag() func(*Event) {
	watched := catalogue.Any(got(emqp.READY), got(emqp.INFORM), gives(emqp.REQUEST))
	return catalogue.KeepBy(peerOf, watched, func(ready *bool, e *Event) {
		e.Drop = *ready && is(e, emqp.READY)
		*ready = is(e, emqp.READY)
	})()
}
