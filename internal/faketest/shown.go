// Package faketest shows what departures of package fakes change, faults and variations alike: it holds the same
// conversations with a server that has one and with a server that has none. Only tests import it.
//
// To read: shown.go (what differs, and the file that has it), conversation.go (the conversations, and how they are
// held), testdata/conversations.txt.
package faketest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/golden"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/slow"
)

// Departure is a server that is not as others are.
type Departure struct {
	Name      string
	Configure func(*fakes.Config)
	Shows     bool // in one of the conversations at the least; false: perhaps in none
}

// file has what was shown.
const file = "testdata/shown.txt"

// Shown holds the conversations with a server without and with each departure, in virtual time. testdata/shown.txt of
// the caller has, for each, the first line of each transcript that differs; with -update it is written. Without
// FWP_SLOW=1 every nth departure is looked at, and the race detector watches an eighth of them.
func Shown(t *testing.T, departures []Departure, nth int) {
	t.Helper()
	if slow.Racing {
		nth *= 8
	}
	differing := differences(t)
	want := shownBefore(t)
	var mu sync.Mutex
	shown := map[string]string{}
	t.Run("each", func(t *testing.T) {
		for i, d := range departures {
			if !slow.Enabled() && !golden.Updating() && i%nth != 0 {
				continue
			}
			t.Run(d.Name, func(t *testing.T) {
				t.Parallel()
				lines := differing(t, d.Configure)
				assert.True(t, lines != "" || !d.Shows, "it does not show")
				mu.Lock()
				defer mu.Unlock()
				if shown[d.Name] = d.Name + "\n" + lines; !golden.Updating() {
					assert.Equal(t, want[d.Name], shown[d.Name], "if that is meant: go test, with -update")
				}
			})
		}
	})
	if golden.Updating() {
		var all strings.Builder
		for _, d := range departures {
			all.WriteString(shown[d.Name])
		}
		require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o600))
	}
}

// shownBefore returns what the file has, by the name of the departure.
func shownBefore(t *testing.T) map[string]string {
	t.Helper()
	text, err := input.Read(file, 1<<20)
	require.NoError(t, err)
	all, name := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") {
			name = strings.TrimSpace(line)
		}
		all[name] += line
	}
	return all
}

// differences returns a function that holds the conversations with another server and returns a line for each that
// differs.
func differences(t *testing.T) func(t *testing.T, configure func(*fakes.Config)) string {
	t.Helper()
	talks := conversations()
	conforming := make([]string, len(talks))
	for i, k := range talks {
		conforming[i] = k.hold(t, nil)
	}
	return func(t *testing.T, configure func(*fakes.Config)) string {
		t.Helper()
		var all strings.Builder
		for i, k := range talks {
			all.WriteString(difference(k.name, conforming[i], k.hold(t, configure)))
		}
		return all.String()
	}
}

// difference returns the first line in which a transcript differs; "" if none does.
func difference(name, conforming, got string) string {
	if got == conforming {
		return ""
	}
	before, after := strings.Split(conforming, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(before), len(after))-1 && before[i] == after[i] {
		i++
	}
	line := after[i]
	return fmt.Sprintf("\t%s %d %s\n", name, i, line[:min(len(line), 100)])
}
