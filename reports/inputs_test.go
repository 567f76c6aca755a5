package reports

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sentInputs is what a run has sent: of two fields and two ways.
func sentInputs() *Inputs {
	i := &Inputs{Commands: 3}
	for dimension, classes := range map[string][]string{
		"PUSH retry": {"about 2^10", "about 2^8", "0", "refused"}, "way": {"at once", "by its schedule", "after a restart"},
	} {
		for _, class := range classes {
			i.Class(dimension, class).Sent = 2
		}
	}
	i.Class("way", "after a restart").Sent = 0
	i.Class("PUSH retry", "about 2^10").Sent = 0
	i.Class("PUSH retry", "0").Together("way", "at once", 5)
	i.Class("PUSH retry", "about 2^8").Together("way", "at once", 1)
	i.Class("PUSH retry", "about 2^8").Together("way", "by its schedule", 1)
	return i
}

func TestSpreads(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []Spread{
		{Name: "PUSH retry", Sent: 3, Of: 4, Times: 6, Never: []string{"about 2^10"}},
		{Name: "way", Sent: 2, Of: 3, Times: 4, Never: []string{"after a restart"}},
		{Name: "PUSH retry by way", Sent: 3, Of: 4, Times: 7, Never: []string{"by its schedule: 1 (0)"}},
	}, sentInputs().Spreads(), "what never came with any way counts in no pair")
	assert.Equal(t, "3 commands; of 2 dimensions 5 of 7 classes were sent, and 3 of 4 pairs", sentInputs().Words())
}

func TestInputsAreAddedUp(t *testing.T) {
	t.Parallel()
	other := &Inputs{Commands: 2}
	other.Class("PUSH retry", "about 2^10").Sent = 7
	other.Class("PUSH retry", "0").Together("way", "by its schedule", 4)
	other.Dimensions["way"] = map[string]*Input{"at once": nil}
	sum := sentInputs().Plus(other).Plus(nil)
	assert.Equal(t, 5, sum.Commands)
	assert.Equal(t, []Spread{
		{Name: "PUSH retry", Sent: 4, Of: 4, Times: 13},
		{Name: "way", Sent: 2, Of: 3, Times: 4, Never: []string{"after a restart"}},
		{Name: "PUSH retry by way", Sent: 4, Of: 4, Times: 11},
	}, sum.Spreads())
	var none *Inputs
	assert.Equal(t, sentInputs(), none.Plus(sentInputs()))
	assert.Nil(t, none.Plus(nil))
	copied := none.Plus(other)
	copied.Class("PUSH retry", "0").Together("way", "by its schedule", 1)
	assert.Equal(t, 4, other.Class("PUSH retry", "0").With["way"]["by its schedule"], "a sum shares nothing")
}

func TestInputsOnPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		o         PageOptions
		has, hasn string
	}{
		"short":    {PageOptions{}, "inputs: 3 commands; of 2 dimensions", "INPUTS"},
		"verbose":  {PageOptions{Verbose: true}, "PUSH retry by way  3 of 4      7  by its schedule: 1 (0)", "inputs:"},
		"pictures": {PageOptions{Figures: true}, "never sent", "inputs:"},
	} {
		for kind, page := range map[string]Page{
			"run":         (&Report{Inputs: sentInputs()}).Page(test.o),
			"exploration": (&Exploration{Inputs: sentInputs()}).Page(test.o),
		} {
			var out bytes.Buffer
			require.NoError(t, page.WriteText(&out, TextOptions{Width: 120}))
			assert.Contains(t, out.String(), test.has, "%s, %s", name, kind)
			assert.NotContains(t, out.String(), test.hasn, "%s, %s", name, kind)
		}
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	c := &Coverage{}
	code, words := c.Outcome(ExitOptions{})
	assert.Equal(t, ExitInconclusive, code)
	assert.Contains(t, words, "nothing was sent")
	for _, write := range []func(io.Writer, ExitOptions) error{
		(&Report{Inputs: sentInputs()}).WriteJSON, (&Exploration{Inputs: sentInputs()}).WriteJSON,
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out, ExitOptions{}))
		require.NoError(t, c.Add("a.json", out.Bytes()))
	}
	code, words = c.Outcome(ExitOptions{})
	assert.Equal(t, ExitWell, code)
	assert.Contains(t, words, "6 commands")
	var out bytes.Buffer
	require.NoError(t, c.WriteJSON(&out, ExitOptions{}))
	require.NoError(t, c.Add("sum.json", out.Bytes()))
	assert.Equal(t, 12, c.Inputs.Commands)
	require.Len(t, c.Suite(ExitOptions{}).Cases, 1)

	require.ErrorContains(t, c.Add("b", []byte(`{"schema":"fwpcheck/3"}`)), "nothing was counted")
	require.ErrorContains(t, c.Add("b", []byte(`{`)), "read the report")
	require.ErrorContains(t, c.Add("b", bytes.Repeat([]byte("{"), 200_000)), "objects")
}

func TestLaw(t *testing.T) {
	t.Parallel()
	why := map[string]int{"same jid": 1200}
	l := Law{Judged: 1300, Open: why, Rules: []LawRule{
		{ID: "law/a", Kept: 1, Broken: 2}, {ID: "law/b", Kept: 1, Open: why}, {ID: "law/c", Open: why}, {ID: "law/d"},
	}}
	want := []string{
		"broken: kept 1 time, broken 2 times", "kept: kept 1 time, open 1,200 (same jid)", "open: open 1,200 (same jid)",
		"not reached: not reached",
	}
	for i := range l.Rules {
		l.Rules[i].Decide()
		assert.Equal(t, want[i], l.Rules[i].Outcome+": "+l.Rules[i].Words())
	}
	assert.Equal(t, "the law judged 1,300 messages; open 1,200 (same jid); rules not reached: law/d", l.Words())
}

func TestFunctionsOnPages(t *testing.T) {
	t.Parallel()
	many := make([]string, 25)
	for i := range many {
		many[i] = fmt.Sprintf("main.go:%d: f", i)
	}
	for name, test := range map[string]struct {
		f    *Functions
		o    PageOptions
		want string
	}{
		"none":  {f: nil, want: ""},
		"open":  {f: &Functions{Open: "no go"}, want: "are not known: no go"},
		"all":   {f: &Functions{Of: 3}, want: "FUNCTIONS: 0 of 3 of the server were never reached"},
		"many":  {f: &Functions{Of: 30, Never: many}, want: "and 5 more; -v lists them"},
		"whole": {f: &Functions{Of: 30, Never: many}, o: PageOptions{Verbose: true}, want: "main.go:24: f"},
	} {
		var p Page
		p.functions(test.f, test.o)
		assert.Contains(t, string(RenderText(p, TextOptions{Width: 100})), test.want, name)
	}
}
