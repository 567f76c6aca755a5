package text_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b c", text.OneLine(" a\n\tb  c\r\n"))
	assert.Empty(t, text.OneLine("\n"))
	assert.Equal(t, "a b", text.FirstLine("a b\r\nc"))
	assert.Equal(t, "a", text.FirstLine("a\nb\nc"))
	assert.Equal(t, "a", text.FirstLine("a"))
}

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "", "a\r\n": `a\r\n`, `{"a":"\n"}`: `{"a":"\\n"}`, "ä\xff\u202e": `ä\xff\u202e`, "\x1b[2J": `\x1b[2J`,
	}
	for s, want := range tests {
		assert.Equal(t, want, text.Escape(s))
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "", "ä\\": "ä\\", "\t\r\n": `\t\r\n`, "\x1b[2J": `\x1b[2J`, "\xff": `\xff`, "\u202e\u00a0": `\u202e\u00a0`,
		"\U000e0001": `\U000e0001`, "\ufffd": "\ufffd", "a ##[error]b ## c": `a #\x23[error]b ## c`,
		"##vso[task.complete]": `#\x23vso[task.complete]`,
	}
	for s, want := range tests {
		assert.Equal(t, want, text.Printable(s))
	}
}

func TestInert(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"": "", "a ::error::b": "a ::error::b", "::error::a": "| ::error::a",
		"  ::stop-commands::a": "  | ::stop-commands::a",
		"\x1b[31m ::error::a":  "\x1b[31m | ::error::a", "##[error]": "| ##[error]", "# a": "# a",
	} {
		assert.Equal(t, want, text.Inert(line))
	}
	assert.Equal(t, "fwpcheck: a\n| ::error::b", text.Show("fwpcheck: a\r\n::error::b"))
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("x", 450)} {
		assert.Equal(t, s, text.Shorten(s))
		assert.Equal(t, s, text.Excerpt([]byte(s)))
	}
	long := strings.Repeat("ä", 500)
	for _, short := range []string{text.Shorten(long), text.Excerpt([]byte(long))} {
		assert.Equal(t, strings.Repeat("ä", 100)+" … (1000 bytes in all, SHA-256 3fcfd156e7c358d6) … "+
			strings.Repeat("ä", 25), short)
	}
	assert.Equal(t, strings.Repeat("\x80", 200)+" … (999 bytes in all, SHA-256 de1b5d6bffd32036) … "+
		strings.Repeat("\x80", 50),
		text.Shorten(strings.Repeat("\x80", 999)))
	noise := text.Excerpt([]byte(strings.Repeat("\x80", 300)))
	assert.True(t, utf8.ValidString(noise))
	assert.Regexp(t, text.Cut, noise)
	other := strings.Repeat("ä", 250) + "ö" + strings.Repeat("ä", 249)
	assert.NotEqual(t, text.Shorten(long), text.Shorten(other), "they differ in the middle")
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "''", "push/lost": "push/lost", "tcp://[::1]:1": `'tcp://[::1]:1'`, "a b": "'a b'", "it's": `'it'\''s'`,
		"*": "'*'",
	}
	for word, want := range tests {
		assert.Equal(t, want, text.ShellQuote(word))
	}
}

func TestEscapeJSON(t *testing.T) {
	t.Parallel()
	plain := "{\n  \"a\": \"ä\\n\"\n}\n"
	assert.Equal(t, plain, string(text.EscapeJSON([]byte(plain))))
	hostile := "a\u202e\u009b\x7f\u2028\U000e0001b"
	raw, err := json.Marshal(hostile)
	require.NoError(t, err)
	escaped := text.EscapeJSON(raw)
	assert.Equal(t, `"a\u202e\u009b\u007f\u2028\udb40\udc01b"`, string(escaped))
	var back string
	require.NoError(t, json.Unmarshal(escaped, &back))
	assert.Equal(t, hostile, back)
	assert.Equal(t, "\"a\ufffdb\"", string(text.EscapeJSON([]byte("\"a\xffb\""))))
	assert.Equal(t, `"#\u0023[error]"`, string(text.EscapeJSON([]byte(`"##[error]"`))))
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "ten chars.": "ten chars.", "some, more words": "some …", "abcdefghijklm": "abcdefghi…",
		"ääääää öööööö": "ääääää …",
	} {
		assert.Equal(t, want, text.Brief(s, 10))
	}
}
