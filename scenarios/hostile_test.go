package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

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
		`${"a":1}`, `$={"a":1}`, `${"a":int(1..9)}`, `${"a":number}`, `${"a":any | absent}`, `${"a":[1,...]}`, `${"a":"$x"}`,
		`${"a":$y:int}`,
		`${"a":=[1,2]}`, `$={"a":any}`, `${"a":time}`, `${"a":/x/}`, `${"a":1.5,"b":{"c":[{"d":1}]}}`, `$[1,...]`, `$=[]`,
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range patterns {
				choices, err := cursorAt(p).choices()
				require.NoError(t, err, p)
				a := session.Received{Message: session.Message{Kind: '$', Text: []byte(got)}}
				for _, d := range choices[0].compare(a, newScope("x").oneReply()) {
					assert.Less(t, len(d.String()), 5000, p)
				}
			}
		})
	}
}
