package emqp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// TestEveryVariationShows plays a conversation with each variation, and with a broker without one: the frames that the
// table names are there with it and not without it, or the reverse.
func TestEveryVariationShows(t *testing.T) {
	t.Parallel()
	for _, v := range fakeemqp.Variations() {
		row, ok := shownVariations[v.Name]
		if !ok {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			text, isMissing := strings.CutPrefix(row[1], "!")
			output, baseline := talks[row[0]].play(t, v.Config()), talks[row[0]].play(t, fakeemqp.Config{})
			assert.Equal(t, isMissing, !strings.Contains(output, text), "in %q with it, %q is there", row[0], text)
			assert.Equal(t, isMissing, strings.Contains(baseline, text), "and without it")
		})
	}
}

// The variations of sockets do not show in messages: they are settings of package zmtp.
func TestSocketVariations(t *testing.T) {
	t.Parallel()
	want := map[string]zmtp.RouterConfig{
		"identity": {Config: zmtp.Config{Identity: "broker"}}, "in-pieces": {Config: zmtp.Config{SendInPieces: true}},
		"pings": {Config: zmtp.Config{Ping: time.Second}},
		"properties": {Config: zmtp.Config{Properties: []zmtp.Property{
			{Name: "X-Version", Value: []byte("7")}, {Name: "socket-type", Value: []byte("ROUTER")},
		}}},
		"one-socket": {},
	}
	for _, v := range fakeemqp.Variations() {
		_, isShown := shownVariations[v.Name]
		router, ok := want[v.Name]
		assert.NotEqual(t, isShown, ok, v.Name)
		assert.Equal(t, v.Name == "one-socket", v.HasOneSocket)
		if ok {
			assert.Equal(t, router, v.Config().Router, v.Name)
			assert.Nil(t, v.Config().Hook, v.Name)
		}
	}
}

// shownVariations has for each variation a conversation, and what the peers receive in it with the variation and not
// without it; behind a "!", the reverse.
var shownVariations = map[string][2]string{
	"fractions":        {"acks", `["", "eMQP/1.0", "HEARTBEAT", "broker-2", "946684803.25"`},
	"inform-acks-only": {"malformed", `!["", "eMQP/1.0", "ACK", "broker-5", "u-1-6"`},
	"kbai-closes":      {"two", `["", "eMQP/1.0", "ACK", "broker-12", "u-1-c6"`},
	"late-acks":        {"beats", `0.300 s s S: ["", "eMQP/1.0", "ACK", "broker-2", "u-1-s"`},
	"late-requests":    {"two", `10.000 s w S: ["", "eMQP/1.0", "REQUEST", "u-1-c6"`},
	"malformed-closes": {"malformed", `["", "eMQP/1.0", "HEARTBEAT", "broker-2", "946684803"`},
	"no-acks":          {"beats", `!["", "eMQP/1.0", "ACK", "broker-2", "u-1-s"`},
	"often":            {"beats", `["", "eMQP/1.0", "ACK", "broker-63", "u-1-p"`},
	"own-ids":          {"queues", `["", "eMQP/1.0", "REQUEST", "\xff, "]2", "b`},
	"ready-flag":       {"asked", `!to d`},
	"schedule-twice":   {"schedules", `"text"]\r\n["", "eMQP/1.0", "SCHEDULE", "u-1-1"`},
	"seldom":           {"beats", `["", "eMQP/1.0", "ACK", "broker-8", "u-1-p"`},
	"stops":            {"disconnect", `0.200 s c S: <close>`},
}
