package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"ABC", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1},
		{"abc", "ab", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, text.Distance(test.a, test.b), test)
		assert.Equal(t, test.want, text.Distance(test.b, test.a), test)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"rate", "stages", "duration", "rates"}
	tests := []struct {
		word  string
		limit int
		want  string
	}{
		{"rte", 2, "rate"}, {"RATE", 0, "rate"}, {"ratse", 2, "rate"}, {"durtaion", 1, "duration"},
		{"durtaion", 0, ""}, {"xyz", 2, ""}, {"", 2, ""},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, text.Nearest(test.word, words, test.limit), test)
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	words := []string{"url", "check", "clause", "level", "color", "check", "Checks"}
	tests := map[string][]string{
		"chek": {"check", "Checks"}, "checks": {"Checks", "check"}, "c": {"Checks", "check", "clause"}, "urls": {"url"},
		"CLAU": {"clause"}, "something": {}, "x": {}, "": nil,
	}
	for word, want := range tests {
		assert.Equal(t, want, text.Candidates(word, words), word)
	}
	assert.Equal(t, "check", words[1], "the list is the caller's")
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	assert.Empty(t, text.DidYouMean())
	assert.Empty(t, text.DidYouMean(""))
	assert.Equal(t, "did you mean push?", text.DidYouMean("push"))
	assert.Equal(t, "did you mean push or pop?", text.DidYouMean("push", "pop"))
}
