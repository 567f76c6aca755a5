package golden

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// SetTexts sets every text below v.
func SetTexts(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			SetTexts(field, text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		SetTexts(v.Index(0), text)
	case reflect.String:
		v.SetString(text)
	}
}

// Hostile is what a peer may send: it moves the cursor, sets the title, turns the direction of writing, hides.
const Hostile = "\x1b[2J\x1b]0;title\a\r\b\x7f\u009b31m\u202e\u2066\u200b\U000e0041\x00 secret"

// CheckHarmless fails the test unless out shows [Hostile], and without a control character.
func CheckHarmless(t *testing.T, out string) {
	t.Helper()
	require.Contains(t, out, "secret")
	for _, r := range out {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f ||
			strings.ContainsRune("\u200b\u202e\u2066\U000e0041", r)) {
			t.Fatalf("%U is in the output", r)
		}
	}
}

// Hide hides the secret of a text.
func Hide(text string) string { return strings.ReplaceAll(text, "secret", "(hidden)") }

// CheckHidden fails the test if JSON has a secret that was not hidden in another field than these.
func CheckHidden(t *testing.T, out string, ownKeys map[string]bool) {
	t.Helper()
	key := ""
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), `": `); ok {
			key = strings.Trim(name, `"`)
		}
		if strings.Contains(line, "secret") && !strings.Contains(line, "(hidden)") {
			assert.True(t, ownKeys[key], "%s: %s", key, line)
		}
	}
	require.Contains(t, out, "(hidden)")
}
