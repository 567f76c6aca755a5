package fakeworkq_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/fakeworkq"
)

// TestEveryFaultShows plays a conversation with each fault and each variation, and with a conforming server: the bytes
// that the tables name are there with it and not without it, or the reverse.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	conforming := map[string]string{}
	for name, k := range talks {
		conforming[name] = k.play(t, fakeworkq.Config{})
	}
	check := func(name string, configure func(*fakeworkq.Config), row [2]string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var config fakeworkq.Config
			configure(&config)
			text, missing := strings.CutPrefix(row[1], "!")
			with := talks[row[0]].play(t, config)
			assert.Equal(t, missing, !strings.Contains(with, text), "in %q with it, %q is there", row[0], text)
			assert.Equal(t, missing, strings.Contains(conforming[row[0]], text), "and without it")
		})
	}
	for _, f := range fakeworkq.Faults() {
		check(f.Name, func(c *fakeworkq.Config) { c.Hook = f.Hook() }, shownFaults[f.Name])
	}
	for _, v := range fakeworkq.Variations() {
		check(v.Name, v.Configure, shownVariations[v.Name])
	}
	assert.Len(t, fakeworkq.Faults(), len(shownFaults))
	assert.Len(t, fakeworkq.Variations(), len(shownVariations))
}
