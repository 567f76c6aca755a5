package variations_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/transcript"
)

func TestVariationsAreWellFormed(t *testing.T) {
	t.Parallel()
	slug := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	var names []string
	for _, v := range variations.All() {
		names = append(names, v.Name)
		assert.Regexp(t, slug, v.Name)
		assert.NotEmpty(t, v.Summary, v.Name)
		assert.NotEmpty(t, v.Reading, v.Name)
		assert.NotNil(t, v.Configure, v.Name)
	}
	assert.True(t, slices.IsSorted(names))
	assert.Equal(t, names, slices.Compact(slices.Clone(names)))
}

func TestAVariationKeepsTheHookThatIsThere(t *testing.T) {
	t.Parallel()
	for _, v := range variations.All() {
		isCalled := false
		config := fakes.Config{Hook: func(*fakes.Event) { isCalled = true }}
		v.Configure(&config)
		config.Hook(&fakes.Event{Conn: &fakes.Conn{}})
		assert.True(t, isCalled, v.Name)
	}
}

// TestEachVariationShows holds conversations with a server that varies, and with one that does not: each shows in one
// of them at the least. That nothing blames them would also be true of variations that do nothing.
func TestEachVariationShows(t *testing.T) {
	t.Parallel()
	talks := conversations(t)
	baseline := map[string][]transcript.Event{}
	for name, events := range talks {
		baseline[name] = play(t, name, events, nil)
	}
	for i, v := range variations.All() {
		if golden.Racing && i%8 != 0 {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			isShown := false
			for name, events := range talks {
				isShown = isShown || !assert.ObjectsAreEqual(baseline[name], play(t, name, events, v.Configure))
			}
			assert.True(t, isShown)
		})
	}
}
