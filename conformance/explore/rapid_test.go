package explore

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fwpsuite/fwp/internal/target"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

var build = Builder{Dialect: fwpscript.Dialect{}}

// anyText has what steps have in them, and what they should not have.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"$jid4", "$queue2", "$wid1", "$$", "$", "$now+4s", "$now-2h@+05:30", "$pwdhash.hex",
			"$filler(3B)", "$filler(", "\r\n", "\xff", "é"}),
		rapid.StringN(0, 6, 20),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "") })
}

func anyStep() *rapid.Generator[Step] {
	return rapid.Custom(func(t *rapid.T) Step {
		conn := rapid.IntRange(0, 3).Draw(t, "conn")
		line := build.Line(conn, "%s", anyText().Draw(t, "line"))
		line.Ahead = rapid.Bool().Draw(t, "ahead")
		return rapid.SampledFrom([]Step{
			line, build.Bytes(conn, rapid.SliceOfN(anyText(), 1, 3).Draw(t, "segments")...), build.Bytewise(conn, "INFO"),
			build.Open(conn, scenarios.Raw, ""), build.Open(conn, scenarios.Consumer, `{"wid":"$wid1"}`), build.Await(conn),
			End(conn, scenarios.Reset), Wait(time.Second), Disrupt(target.Restart), build.Signal("quiet", "$wid1"),
		}).Draw(t, "step")
	})
}

func anyTrace() *rapid.Generator[Trace] {
	return rapid.Custom(func(t *rapid.T) Trace {
		tr := Trace{Steps: rapid.SliceOfN(anyStep(), 1, 12).Draw(t, "steps")}
		if rapid.Bool().Draw(t, "repeated") {
			tr.From = rapid.IntRange(0, len(tr.Steps)-1).Draw(t, "from")
			tr.To = rapid.IntRange(tr.From+1, len(tr.Steps)).Draw(t, "to")
			tr.N = rapid.IntRange(2, 5).Draw(t, "n")
		}
		return tr
	})
}

func TestTracesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyTrace().Draw(t, "trace")
		var b bytes.Buffer
		require.NoError(t, want.Save(&b))
		got, err := LoadTrace(build.Dialect, &b)
		require.NoError(t, err)
		require.Len(t, got.Steps, len(want.Steps))
		for i, step := range want.Steps {
			assert.Equal(t, step.Conn(), got.Steps[i].Conn())
			assert.Equal(t, sent(step), sent(got.Steps[i]))
			assert.Equal(t, [2]bool{step.Ahead, step.Ends()}, [2]bool{got.Steps[i].Ahead, got.Steps[i].Ends()})
		}
		want.Steps, got.Steps = nil, nil
		assert.Equal(t, want, got)
	})
}

// sent is what a step sends, with its names as they are written.
func sent(s Step) string {
	do := s.Sends()
	if do == nil {
		return ""
	}
	all := ""
	for _, t := range do.Segments {
		all += t.Expand(func(name scenarios.Name) string { return name.String() }) + "|"
	}
	if !do.Raw {
		return strings.TrimSuffix(all, "|") + "\r\n|"
	}
	return all
}

// Leaving steps out moves the bounds of the repetition along with them.
func TestLeavingStepsOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trace := anyTrace().Draw(t, "trace")
		from := rapid.IntRange(0, len(trace.Steps)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(trace.Steps)).Draw(t, "to")
		rest := trace.pick(slices.DeleteFunc(trace.places(), func(at int) bool { return at >= from && at < to }))
		require.Len(t, rest.Steps, len(trace.Steps)-(to-from))
		require.LessOrEqual(t, rest.From, rest.To)
		require.LessOrEqual(t, rest.To, len(rest.Steps))
		inside := 0
		for i := trace.From; i < trace.To; i++ {
			inside += b2i(i < from || i >= to)
		}
		assert.Equal(t, inside, rest.To-rest.From)
	})
}

func TestRepetitionsArePlayedInRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr := anyTrace().Draw(t, "trace")
		want := len(tr.Steps) + max(tr.N-1, 0)*(tr.To-tr.From)
		last, n := 0, 0
		for round := range tr.sequence() {
			assert.True(t, round == 0 || round == last || round == last+1, "%d after %d", round, last)
			last = round
			n++
		}
		assert.Equal(t, want, n)
	})
}

// Whatever stands in a step, names are filled in without a panic, and the same again.
func TestNamesAreFilledIn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		n := &names{dialect: fwpscript.Dialect{}, prefix: "fwp0", times: map[string]string{},
			value: func(_ int, name string) string { return name }}
		value := n.fill(text, 1)
		assert.Equal(t, value, n.fill(text, 1))
		if _, err := scenarios.ParseTemplate(fwpscript.Dialect{}, text); err == nil { // else it stays as it is
			assert.Equal(t, value, n.fill(build.Tokenize(text).String(), 1), "in pieces")
		}
	})
}
