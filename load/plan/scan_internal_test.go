package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStrings: strings mean what encoding/json says that they mean.
func TestStrings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`""`, `"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u0061\u00E9\u20ac"`, `"déjà"`,
		`"\ud83d\ude00!"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\ud83d\ude00"`,
		`"\u0000"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(text), &want), text)
		s := scanner{text: []byte(text)}
		assert.Equal(t, want, string(s.str()), text)
		assert.Empty(t, s.problem, text)
		assert.Equal(t, len(text), s.at, text)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"rate": "rate", "rat": "rate", "Stages": "stages", "x": "", "": "", "duratoin": "duration", "something else": "",
	} {
		assert.Equal(t, want, nearest(word, []string{"rate", "stages", "duration"}), word)
	}
}

// A trace that is too large is refused, and not cut.
func TestTraceIsBounded(t *testing.T) {
	t.Parallel()
	_, err := readTrace("t", strings.NewReader("at\n1\n2\n"), 6)
	require.EqualError(t, err, "read t: it has more than 6 bytes, the limit; split it")
	trace, err := readTrace("t", strings.NewReader("at\n1\n2\n"), 7)
	require.NoError(t, err)
	assert.Equal(t, 2, trace.Len())
}
