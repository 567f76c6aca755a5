package scenarios

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNumbersAndWordsEnd holds what the parser takes for a number or a word against regular expressions, which take ten
// times as long.
func TestNumbersAndWordsEnd(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?`)
	word := regexp.MustCompile(`^\pL+`)
	for _, text := range []string{
		"", "-", "0", "-0", "01", "-01.5", "12", "12.", "12.5", "12.5.", "12..20", "1e", "1e+", "1e+5x", "1E-3,", "1.5e7}",
		"1e5.5", ".5", "+1", "--1", "1 2", "x1", "int", "int(1..2)", "true,", "ünder-", "日本 x", "a1", "_a", "e5",
	} {
		assert.Equal(t, number.FindString(text), text[:numberLength(text)], "%q", text)
		assert.Equal(t, word.FindString(text), text[:letters(text)], "%q", text)
	}
}
