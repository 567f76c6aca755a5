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
	Name         string // a slug that never changes
	Summary      string
	Config       func() Config // of a broker of its own
	HasOneSocket bool          // it has one socket for all peers
	Allows       []allow.Row
}

// Variations returns the catalogue, in no certain order.
func Variations() []Variation { return slices.Clone(variations) }

var variations = []Variation{
	hookVariation("no-acks", "nothing is acknowledged", actOnSent(drop, emqp.ACK),
		"allow undecided EMQP-ACK-01: the document does not say which messages are acknowledged (EMQP-ACK-03)"),
	hookVariation("inform-acks-only", "INFORM alone is acknowledged", dropOtherAcks),
	hookVariation("late-acks", "an ACK takes 300 ms", actOnSent(delay(300*time.Millisecond), emqp.ACK)),
	hookVariation("late-requests", "a REQUEST takes 2 s", actOnSent(delay(2*time.Second), emqp.REQUEST)),
	hookVariation("own-ids", "the broker gives what it passes on an id of its own, which is no text", replaceIDs),
	hookVariation("fractions", "the timestamp of a HEARTBEAT has a fraction",
		actOnSent(change(atFirst, func(b []byte) []byte { return append(slices.Clone(b), ".25"...) }), emqp.HEARTBEAT)),
	hookVariation("schedule-twice", "a scheduler gets each SCHEDULE and UNSCHEDULE twice",
		actOnSent(func(e *Event) { e.Repeats = 1 }, emqp.SCHEDULE, emqp.UNSCHEDULE)),
	hookVariation("ready-flag", "several READYs of a worker without a REQUEST between them count as one", mergeReadies),
	hookVariation("kbai-closes", "the connection of a peer that has sent KBAI is closed",
		actOnReceived(func(e *Event) { e.Disconnect = true }, emqp.KBAI)),
	hookVariation("malformed-closes", "the connection of a peer that sends a malformed message is closed",
		func(e *Event) { e.Disconnect = isMalformed(e) }),
	{
		Name: "one-socket", Summary: "clients and workers have one socket", HasOneSocket: true,
		Config: func() Config { return Config{} },
	},
	withConfig("stops", "the broker ends a moment after a DISCONNECT", Config{Stops: true}),
	withConfig("often", "a HEARTBEAT every half second", Config{Interval: time.Second / 2, Timeout: 9 * time.Second}),
	withConfig("seldom", "a HEARTBEAT every 15 s", Config{Interval: 15 * time.Second}),
	routing("in-pieces", "the greeting comes in two pieces", zmtp.Config{SendInPieces: true}),
	routing("pings", "the broker sends a PING every second", zmtp.Config{Ping: time.Second}),
	routing("properties", "READY has a property of the broker's own, and behind it the socket type, in small letters",
		zmtp.Config{Properties: []zmtp.Property{
			{Name: "X-Version", Value: []byte("7")}, {Name: "socket-type", Value: []byte(zmtp.ROUTER)},
		}}),
	routing("identity", "the broker announces an identity", zmtp.Config{Identity: "broker"}),
}

// hookVariation returns a variation that a hook makes, or a function that makes one for each broker, and what it
// allows.
func hookVariation[H catalogue.Hook[Event]](name, summary string, hook H, allows ...string) Variation {
	maker := catalogue.Maker[Event](hook)
	config := func() Config { return Config{Hook: maker()} }
	rows := allow.Rows("fakes/emqp/variation.go: "+name, allows...)
	return Variation{Name: name, Summary: summary, Config: config, Allows: rows}
}

// withConfig returns a variation of the settings, and routing one of the sockets.
func withConfig(name, summary string, c Config) Variation {
	return Variation{Name: name, Summary: summary, Config: func() Config { return c }}
}

func routing(name, summary string, c zmtp.Config) Variation {
	return withConfig(name, summary, Config{Router: zmtp.RouterConfig{Config: c}})
}

func delay(d time.Duration) func(*Event) { return func(e *Event) { e.Delay = d } }

// dropOtherAcks acknowledges nothing but INFORMs.
func dropOtherAcks() func(*Event) {
	match := catalogue.Any(isReceived(emqp.INFORM), isSent(emqp.ACK))
	return catalogue.WithMemoryBy(acknowledgedOf, match, func(isInformed *bool, e *Event) {
		if e.IsFromBroker {
			e.Drop = !*isInformed
			return
		}
		*isInformed = true
	})()
}

// replaceIDs numbers what is passed on, with bytes that a script has to quote.
func replaceIDs() func(*Event) {
	return catalogue.WithMemory(isSent(emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE), func(n *int, e *Event) {
		*n++
		set(atID, "\xff, \"]"+strconv.Itoa(*n))(e)
	})()
}

// mergeReadies takes READYs without a REQUEST between them as one.
func mergeReadies() func(*Event) {
	match := catalogue.Any(isReceived(emqp.READY), isReceived(emqp.INFORM), isSent(emqp.REQUEST))
	return catalogue.WithMemoryBy(peerOf, match, func(ready *bool, e *Event) {
		e.Drop = *ready && isCommand(e, emqp.READY)
		*ready = isCommand(e, emqp.READY)
	})()
}
