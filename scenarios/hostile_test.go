package scenarios

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fwp"
)

func TestShortenCutsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		s := strings.Repeat("x", shift) + strings.Repeat("€", 400)
		short := shorten(s)
		assert.True(t, utf8.ValidString(short), "shifted by %d: %q", shift, short)
		assert.Less(t, len(short), 400)
		assert.Contains(t, short, "bytes in all")
	}
	assert.True(t, strings.HasPrefix(shorten(strings.Repeat("\x80", 2000)), "\x80"), "what is no UTF-8 is cut anywhere")
}

// A reply of 64 MiB must not be written out whole only to be shortened then.
func TestALargeReplyIsToldInFewWords(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("\x00", 32<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	words := arrival{reply: fwp.Reply{Kind: fwp.BulkString, Text: text}}.String()
	runtime.ReadMemStats(&after)
	assert.Less(t, len(words), 4000)
	assert.Contains(t, words, "33554432 bytes in all")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "other tests run beside it")
}

// Whatever a server sends as JSON, matching it ends, soon and without a panic.
func TestHostileJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"deep arrays":          strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"deeper arrays":        strings.Repeat("[", 1<<20),
		"deep objects":         strings.Repeat(`{"a":`, 2500) + "1" + strings.Repeat("}", 2500),
		"a huge exponent":      `{"a":1e999999999,"jid":1e-999999999}`,
		"a huger one":          `{"a":1e99999999999999999999}`,
		"a million digits":     `{"a":` + strings.Repeat("9", 1<<20) + `}`,
		"invalid UTF-8":        "{\"a\":\"\xff\xfe\",\"\xff\":1}",
		"lone surrogates":      `{"a":"\ud800","jid":"\udfff"}`,
		"the same key again":   `{"a":1,` + strings.Repeat(`"a":2,`, 1<<16) + `"a":3}`,
		"a wide array":         `{"a":[` + strings.Repeat("1,", 1<<14) + `1]}`,
		"null":                 "null",
		"nothing":              "",
		"something behind it":  `{} {}`,
		"an unfinished string": `{"a":"`,
	}
	patterns := []string{
		`${"a":1}`, `$={"a":1}`, `${"a":int(1..9)}`, `${"a":number}`, `${"a":any | absent}`, `${"a":[1,...]}`, `${"a":"$x"}`, `${"a":$y:int}`,
		`${"a":=[1,2]}`, `$={"a":any}`, `${"a":time}`, `${"a":/x/}`, `${"a":1.5,"b":{"c":[{"d":1}]}}`, `$[1,...]`, `$=[]`,
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			for _, p := range patterns {
				choices, err := (&cursor{line: p}).choices()
				require.NoError(t, err, p)
				a := arrival{reply: fwp.Reply{Kind: fwp.BulkString, Text: []byte(got)}}
				for _, d := range choices[0].compare(a, newScope("x").oneReply()) {
					assert.Less(t, len(d.String()), 5000, p)
				}
			}
			assert.Less(t, time.Since(begin), 20*time.Second)
		})
	}
}
