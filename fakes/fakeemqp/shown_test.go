package fakeemqp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/zmtp"
)

// TestEveryFaultShows plays a conversation with each fault and each variation, and with a conforming broker: the frames
// that the tables name are there with it and not without it, or the reverse.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	conforming := map[string]string{}
	for name, k := range talks {
		conforming[name] = k.play(t, fakeemqp.Config{})
	}
	check := func(name string, config func() fakeemqp.Config, row [2]string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, missing := strings.CutPrefix(row[1], "!")
			with := talks[row[0]].play(t, config())
			assert.Equal(t, missing, !strings.Contains(with, text), "in %q with it, %q is there", row[0], text)
			assert.Equal(t, missing, strings.Contains(conforming[row[0]], text), "and without it")
		})
	}
	for _, f := range fakeemqp.Faults() {
		check(f.Name, func() fakeemqp.Config { return fakeemqp.Config{Hook: f.Hook()} }, shownFaults[f.Name])
	}
	for _, v := range fakeemqp.Variations() {
		if row, is := shownVariations[v.Name]; is {
			check(v.Name, v.Config, row)
		}
	}
	assert.Len(t, fakeemqp.Faults(), len(shownFaults))
}

// The variations of sockets do not show in messages: they are settings of package zmtp.
func TestSocketVariations(t *testing.T) {
	t.Parallel()
	want := map[string]zmtp.RouterConfig{
		"identity": {Config: zmtp.Config{Identity: "broker"}}, "in-pieces": {Config: zmtp.Config{InPieces: true}},
		"pings": {Config: zmtp.Config{Ping: time.Second}},
		"properties": {Config: zmtp.Config{Properties: []zmtp.Property{
			{Name: "X-Version", Value: []byte("7")}, {Name: "socket-type", Value: []byte("ROUTER")},
		}}},
		"one-socket": {},
	}
	for _, v := range fakeemqp.Variations() {
		_, shown := shownVariations[v.Name]
		router, is := want[v.Name]
		assert.NotEqual(t, shown, is, v.Name)
		assert.Equal(t, v.Name == "one-socket", v.Single)
		if is {
			assert.Equal(t, router, v.Config().Router, v.Name)
			assert.Nil(t, v.Config().Hook, v.Name)
		}
	}
}
