package fakeemqp

import (
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/zmtp"
)

// Variation is a way in which a broker may differ from the usual one without breaking the document.
type Variation struct {
	Name    string // a slug that never changes
	Summary string
	Config  func() Config // of a broker of its own
	Single  bool          // it has one socket for all peers
	Leaves  []string      // clauses that cannot be decided on such a broker
}

// Variations returns the catalogue, in no certain order.
func Variations() []Variation { return slices.Clone(variations) }

var variations = []Variation{
	{
		Name: "no-acks", Summary: "nothing is acknowledged", Config: hooked(sent(drop, emqp.ACK)),
		Leaves: []string{"EMQP-ACK-01"},
	},
	{Name: "inform-acks-only", Summary: "INFORM alone is acknowledged", Config: hooked(informAcksOnly)},
	{Name: "late-acks", Summary: "an ACK takes 300 ms", Config: hooked(sent(delay(300*time.Millisecond), emqp.ACK))},
	{Name: "late-requests", Summary: "a REQUEST takes 2 s", Config: hooked(sent(delay(2*time.Second), emqp.REQUEST))},
	{Name: "own-ids", Summary: "the broker gives what it passes on an id of its own", Config: hooked(ownIDs)},
	{Name: "fractions", Summary: "the timestamp of a HEARTBEAT has a fraction", Config: hooked(
		sent(change(atFirst, func(b []byte) []byte { return append(slices.Clone(b), ".25"...) }), emqp.HEARTBEAT))},
	{Name: "kbai-closes", Summary: "the connection of a peer that has sent KBAI is closed", Config: hooked(
		received(func(e *Event) { e.Disconnect = true }, emqp.KBAI))},
	{
		Name: "malformed-closes", Summary: "the connection of a peer that sends a malformed message is closed",
		Config: hooked(func(e *Event) { e.Disconnect = malformed(e) }),
	},
	{Name: "one-socket", Summary: "clients and workers have one socket", Config: with(func(*Config) {}), Single: true},
	{Name: "often", Summary: "a HEARTBEAT every half second", Config: with(func(c *Config) {
		c.Interval, c.Timeout = time.Second/2, 9*time.Second
	})},
	{Name: "seldom", Summary: "a HEARTBEAT every 15 s", Config: with(func(c *Config) { c.Interval = 15 * time.Second })},
	{Name: "in-pieces", Summary: "the greeting comes in two pieces", Config: with(func(c *Config) {
		c.Router.InPieces = true
	})},
	{Name: "pings", Summary: "the broker sends a PING every second", Config: with(func(c *Config) {
		c.Router.Ping = time.Second
	})},
	{Name: "properties", Summary: "READY has properties of the broker's own", Config: with(func(c *Config) {
		c.Router.Properties = append(c.Router.Properties, zmtp.Property{Name: "X-Version", Value: []byte("7")})
	})},
	{Name: "identity", Summary: "the broker announces an identity", Config: with(func(c *Config) {
		c.Router.Identity = "broker"
	})},
}

// hooked returns the settings of a broker with a hook, or with one that a function makes for it.
func hooked[H catalogue.Hook[Event]](hook H) func() Config {
	maker := catalogue.Maker[Event](hook)
	return func() Config { return Config{Hook: maker()} }
}

// with returns settings that are changed.
func with(change func(*Config)) func() Config {
	return func() (c Config) {
		change(&c)
		return c
	}
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

// ownIDs counts the messages that are passed on.
func ownIDs() func(*Event) {
	return catalogue.Keep(gives(emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE), func(n *int, e *Event) {
		*n++
		set(atID, "passed-on-"+strconv.Itoa(*n))(e)
	})()
}
