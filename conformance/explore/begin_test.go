package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// TestAlone: of the last steps that send something each is played by itself, behind the first one of its connection.
func TestAlone(t *testing.T) {
	t.Parallel()
	b := Builder{fwpdialect.Dialect{}}
	steps := []Step{
		b.Open(1, scenarios.Raw, ""), b.Line(1, "join old"), b.Open(1, scenarios.Raw, ""), b.Line(1, "join a"),
		b.Open(2, scenarios.Raw, ""), b.Line(2, "ping"), b.Line(1, "put q"), Wait(1), b.Line(1, "take q"),
	}
	var all []string
	for _, trace := range alone(steps) {
		text := ""
		for _, step := range trace.Steps {
			text += step.Text() + ";"
		}
		all = append(all, text)
	}
	assert.Equal(t, []string{";join a;take q;", ";join a;put q;", ";ping;", ";join a;"}, all)
}

// TestMovesThatEndAServer: a move after which the server is gone in most cases is not made any more, and one that was
// by chance the last before is.
func TestMovesThatEndAServer(t *testing.T) {
	t.Parallel()
	g := &generator{last: map[string]uint64{}, made: map[string]int{"kill": 3, "ping": 7}, fatal: map[string]int{}}
	for _, name := range []string{"kill", "ping", "kill", "ping", "ping"} {
		g.latest = name
		g.ended()
		assert.True(t, g.affords(Move{Name: name}))
	}
	g.latest = "kill"
	g.ended()
	assert.False(t, g.affords(Move{Name: "kill"}))
	assert.True(t, g.affords(Move{Name: "ping"}))
}
