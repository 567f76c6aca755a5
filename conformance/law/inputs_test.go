package law_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/values"
	"github.com/fwpsuite/fwp/reports"
)

// spool is the law of a protocol without a greeting. "put N" brings a job, whose id is its number; the answer to
// "get N WAY" brings it, by that way. Commands end with ";".
type spool struct {
	echo
	begun map[int]string
}

func (l *spool) Split(conn int, all []byte, _ time.Time) (commands [][]byte) {
	text := l.begun[conn] + string(all)
	for {
		one, rest, ended := strings.Cut(text, ";")
		if l.begun[conn] = text; !ended {
			return commands
		}
		commands, text = append(commands, []byte(one+";")), rest
	}
}

func (l *spool) Came(conn int, m session.Message, at time.Time) (a law.Answer) {
	get, is := strings.CutPrefix(l.asked[conn], "get ")
	if is {
		a.Job, a.Way, _ = strings.Cut(strings.TrimSuffix(get, ";"), " ")
	}
	delete(l.asked, conn)
	return a
}

func (l *spool) Populations(_ int, each func(of string, n int)) { each("asked", len(l.asked)) }

// spooled says what the commands consist of.
func spooled() *law.Fields {
	return &law.Fields{
		Each: func(command []byte, each func(string, []byte)) {
			verb, value, _ := strings.Cut(strings.TrimSuffix(string(command), ";"), " ")
			each(verb, nil)
			if verb == "put" {
				each("put job", []byte(`"`+value+`"`))
				each("put number", []byte(value))
			}
			each("odd", []byte("1"))
		},
		Known: func() map[string][]string {
			return law.Classes(map[string][]values.Bucket{"put job": nil, "put number": values.Integers(0, 3)})
		},
		Populations: map[string]int{law.Connections: 2, "asked": 1},
		Ways:        []string{law.AtOnce, law.Failed}, Job: "put job",
	}
}

// counts returns what was sent after events as those of TestWatch, "of class: times" for each class of a dimension.
func counts(t *testing.T, events string) *reports.Inputs {
	t.Helper()
	w := law.NewWatch(law.Definition{
		Start:  func(law.Terms) law.Law { return &spool{echo{asked: map[int]string{}}, map[int]string{}} },
		Fields: spooled(),
	}, law.Terms{})
	conns := map[string]session.Observer{}
	for event := range strings.FieldsSeq(events) {
		play(w, conns, event)
	}
	return w.Tally().Inputs
}

func TestInputs(t *testing.T) {
	t.Parallel()
	sent := func(i *reports.Inputs, dimension string) map[string]int {
		all := map[string]int{}
		for class, in := range i.Dimensions[dimension] {
			all[class] = in.Sent
		}
		return all
	}
	for events, moments := range map[string]map[string]int{
		"a a>x; a<y a>x; a<y": {"alone": 2},
		"a a>x;x;":            {"several in one write": 2},
		"a a>x; a>x;":         {"alone": 1, "before the last answer": 1},
		"a a>x a>;":           {"in several writes": 1},
		"a a>x; a!":           {"alone": 1, "close before the answer": 1},
		"a a>x; a<y a/ a!":    {"alone": 1, "half-close": 1, "close": 1},
	} {
		assert.Equal(t, moments, sent(counts(t, events), "moment"), events)
	}
	assert.Nil(t, counts(t, "a"))

	i := counts(t, "a b a>put_2; a<y a>put_3; a<y b>get_2_at_once; b<y b>get_2_after_a_failure; b<y b>get_4_at_once; b<y")
	assert.Equal(t, 5, i.Commands)
	assert.Equal(t, map[string]int{"2": 1, "3": 1}, sent(i, "put number"))
	assert.Equal(t, map[string]int{"2": 5}, sent(i, law.Connections))
	assert.Equal(t, map[string]int{"at once": 1, "after a failure": 1}, sent(i, "way"), "of a job that was put")
	two := i.Dimensions["put number"]["2"]
	assert.Equal(t, map[string]map[string]int{"way": {"at once": 1, "after a failure": 1}}, two.With)
	assert.Empty(t, i.Dimensions["put number"]["3"].With)
	assert.Equal(t, map[string]int{"at once": 1}, i.Dimensions["way"]["after a failure"].With["way before"])
	assert.Equal(t, map[string]int{"alone": 3}, i.Dimensions["command"]["get"].With["moment"])
	assert.Equal(t, map[string]int{"0": 3}, i.Dimensions["command"]["get"].With["asked"])

	spooled().Complete(i)
	assert.Equal(t, map[string]int{"0": 0, "1": 0, "2": 1, "3": 1}, sent(i, "put number"))
	assert.Equal(t, map[string]int{"0": 5, "1": 0}, sent(i, "asked"))
	assert.Equal(t, 0, sent(i, "moment")["reset before the answer"])
	assert.Contains(t, sent(i, "moment"), "reset before the answer")
	assert.NotContains(t, i.Dimensions, "odd", "what no alphabet generates")
	var none *law.Fields
	none.Complete(i)
	require.Nil(t, law.NewInputs(nil, nil))
}

// TestInputsAreBounded: jobs that never come are forgotten.
func TestInputsAreBounded(t *testing.T) {
	t.Parallel()
	l := &spool{echo{asked: map[int]string{}}, map[int]string{}}
	i := law.NewInputs(spooled(), l)
	i.Opened(0)
	for n := range 50_000 {
		i.Sent(0, [][]byte{fmt.Appendf(nil, "put %d;", n)}, false, time.Time{})
	}
	assert.Equal(t, 50_000, i.Counts().Commands)
	assert.Less(t, len(i.Counts().Dimensions["put number"]), 40)
	i.Came(0, law.Answer{Job: "7", Way: law.AtOnce})
	i.Came(0, law.Answer{Job: "49999", Way: law.AtOnce})
	assert.Equal(t, 1, i.Counts().Dimensions["way"][law.AtOnce].Sent, "the first jobs are forgotten")
}
