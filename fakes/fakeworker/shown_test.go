package fakeworker

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEveryFaultShows plays a day with each fault and each variation, and one with a conforming worker: the bytes that
// the tables name are there with it and not without it, or the reverse.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	conforming := map[string]string{}
	for name, d := range days {
		conforming[name] = "\n" + d.play(t, nil)
	}
	check := func(name string, configure func(*Config), shown map[string][2]string, elsewhere []string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, is := shown[name]
			if !is {
				assert.Contains(t, elsewhere, name, "no table says how it shows")
				return
			}
			text, missing := strings.CutPrefix(row[1], "!")
			if text[0] >= '0' && text[0] <= '9' && strings.Contains(text, "s ") { // a time begins the line
				text = "\n" + text
			}
			shows := func() bool {
				return missing != strings.Contains("\n"+days[row[0]].play(t, configure), text)
			}
			// Which executor acts first at an instant is up to the scheduler: a few faults show on most of their days only.
			shown := shows()
			for range 4 {
				shown = shown || shows()
			}
			assert.True(t, shown, "on the day %q with it, %q is never as the table says", row[0], row[1])
			assert.Equal(t, missing, strings.Contains(conforming[row[0]], text), "and on that day without it")
		})
	}
	for _, f := range Faults() {
		check(f.Name, f.Configure, shownFaults, elsewhere)
	}
	for _, f := range ProducerFaults() {
		check(f.Name, f.Configure, shownProducerFaults, elsewhere)
	}
	for _, v := range Variations() {
		check(v.Name, v.Configure, shownVariations, elsewhere)
	}
	for _, v := range ProducerVariations() {
		check(v.Name, v.Configure, shownProducerVariations, elsewhere)
	}
}

// elsewhere are those that tests of their own show.
var elsewhere = []string{
	"hash-leading-zeros", "hash-asked-once", "hash-kept", "hash-missing-over-tls", "fail-message-cut", "json-slashes",
	"line-in-pieces", "message-short", "terminate-fails-one",
}

// Which of its jobs the worker fails when its time is up is a matter of chance, how many is not.
func TestTerminateFailsOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 2, strings.Count(days["terminate"].play(t, nil), " FAIL {"))
	for _, f := range Faults() {
		if f.Name == "terminate-fails-one" {
			assert.Equal(t, 1, strings.Count(days["terminate"].play(t, f.Configure), " FAIL {"))
		}
	}
}

// The tables name nothing that is not there.
func TestShownTables(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range slices.Concat(Faults(), ProducerFaults()) {
		names[f.Name] = true
	}
	for _, v := range slices.Concat(Variations(), ProducerVariations()) {
		names[v.Name] = true
	}
	for _, table := range []map[string][2]string{
		shownFaults, shownProducerFaults, shownVariations, shownProducerVariations,
	} {
		for name := range maps.Keys(table) {
			assert.True(t, names[name], name)
		}
	}
}

func TestEachRowIsUsed(t *testing.T) {
	t.Parallel()
	faults, variations := map[string]bool{}, map[string]bool{}
	for _, f := range slices.Concat(Faults(), ProducerFaults()) {
		faults[f.Name] = true
	}
	for _, v := range slices.Concat(Variations(), ProducerVariations()) {
		variations[v.Name] = true
	}
	assert.Len(t, faultsTable(), len(faults))
	assert.Len(t, variationsTable(), len(variations))
}
