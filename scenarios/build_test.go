package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

func TestBuilder(t *testing.T) {
	t.Parallel()
	b := scenarios.NewBuilder(fwpscript.Dialect{})
	b.Rename = func(name string) string { return strings.Replace(name, "$jid7", "$jid", 1) }
	b.Script.Title = "built"
	b.Comment("# first")
	b.Connect("w", scenarios.Consumer, `{"wid":"$wid2","labels":["$jid7"]}`)
	b.Comment("")
	b.Begin(&scenarios.Block{Kind: scenarios.Eventually})
	b.Send("w", "FETCH $queue")
	b.Mark(scenarios.ClauseMark{Clause: "FWP-FETCH-01"})
	b.Expect("w", scenarios.Window{To: time.Second}, `${"jid":"$jid7"} | $-1`)
	b.Comment("# the end of the block")
	b.End()
	b.Silence(300*time.Millisecond, "w")
	b.Raw("w", "INFO\xff $jid7\r\n")
	b.Send("w", `FAIL {"jid":"$jid7"}`)
	b.Close("w", scenarios.Reset)
	b.Comment("# nothing more")
	text, err := b.Text()
	require.NoError(t, err)
	const want = `title: built
# first
connect w as consumer {"wid":"$wid2","labels":["$jid"]}

eventually
  C[w]: FETCH $queue
  clause FWP-FETCH-01
  S[w] ..1s: ${"jid":"$jid"} | $-1
  # the end of the block
end
silence 300ms on w
C[w] raw: "INFO\xff $jid\r\n"
C[w] bad: FAIL {"jid":"$jid"}
C[w]: <reset>
# nothing more
`
	assert.Equal(t, want, string(text))
	parsed, err := scenarios.Parse(fwpscript.Dialect{}, "built", text)
	require.NoError(t, err)
	assert.Equal(t, want, string(scenarios.Format(parsed)))
}

// The first text that does not parse is the error, and nothing panics behind it.
func TestBuilderOfTextsThatDoNotParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		build func(b *scenarios.Builder)
		want  string
	}{
		"no statement":   {func(*scenarios.Builder) {}, "the script has no statements"},
		"a client line":  {func(b *scenarios.Builder) { b.Send("", "PUSH $filler") }, "$filler needs a size"},
		"an expectation": {func(b *scenarios.Builder) { b.Expect("", scenarios.Window{}, "no") }, "expected a RESP reply"},
		"fields":         {func(b *scenarios.Builder) { b.Connect("", scenarios.Producer, "[]") }, "expected a JSON object"},
		"a new name": {func(b *scenarios.Builder) {
			b.Rename = func(string) string { return "jid" }
			b.Send("", "FETCH $queue")
		}, "is not a name"},
		"the first of two": {func(b *scenarios.Builder) {
			b.Send("", "PUSH $filler")
			b.Expect("", scenarios.Window{}, "nothing")
		}, "$filler needs a size"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := scenarios.NewBuilder(fwpscript.Dialect{})
			test.build(b)
			_, err := b.Text()
			assert.ErrorContains(t, err, test.want)
		})
	}
}
