package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestCount(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0 checks", text.Count(0, "check"))
	assert.Equal(t, "1 check", text.Count(1, "check"))
	assert.Equal(t, "12 checks", text.Count(12, "check"))
	assert.Equal(t, "20,000 checks", text.Count(int64(20_000), "check"))
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for thing, want := range map[string]string{
		"check": "checks", "reply": "replies", "play": "plays", "FETCH": "FETCHes", "push": "pushes", "loss": "losses",
		"": "s",
	} {
		assert.Equal(t, want, text.Plural(thing))
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", -1: "-1", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000",
		1234567: "1,234,567"} {
		assert.Equal(t, want, text.GroupDigits(n))
	}
}
