package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Empty(t, text.Wrap(" \n", 10))
	assert.Equal(t, []string{"ä b", "cccccccc", "d"}, text.Wrap("ä  b\ncccccccc d", 3))
}

func TestBreak(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 12)
	tests := map[string][]string{
		"":                             {""},
		"a line":                       {"a line"},
		"0123456789":                   {"0123456789"},
		"a bb  ccc dddd":               {"a bb  ccc", "  dddd"},
		"  a bbb cc dd":                {"  a bbb cc", "  dd"},
		"C: " + long:                   {"C: xxxxxxx", "  xxxxx"},
		"ä ö ü ß é ô":                  {"ä ö ü ß é", "  ô"},
		"a/long-name-of-two":           {"a/long-", "  name-of-", "  two"},
		"  in a/long-name":             {"  in a/", "  long-", "  name"},
		`{"k":"a-b-c-d"}`:              {`{"k":"a-b-`, `  c-d"}`},
		"tcp://127.0.0.1:7419":         {"tcp://", "  127.0.0.", "  1:7419"},
		"\x1b[31ma b\x1b[0m c":         {"\x1b[31ma b\x1b[0m c"},
		"\x1b[31maaa bbbbb ccc\x1b[0m": {"\x1b[31maaa bbbbb", "  ccc\x1b[0m"},
		"             many blanks":     {"  many", "  blanks"},
	}
	for line, want := range tests {
		assert.Equal(t, want, text.Break(line, 10, 2), line)
	}
}

func TestContinue(t *testing.T) {
	t.Parallel()
	command := "fwpcheck run --check a/b --url 'tcp://x y'"
	assert.Equal(t, []string{command}, text.Continue(command, 80))
	assert.Equal(t, []string{`fwpcheck run --check a/b \`, "  --url 'tcp://x y'"}, text.Continue(command, 30))
	assert.Equal(t, []string{`fwpcheck run \`, `  --check a/b \`, "  --url 'tcp://x y'"}, text.Continue(command, 5))
}
