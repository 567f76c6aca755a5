package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLaw(t *testing.T) {
	t.Parallel()
	reasons := map[string]int{"same jid": 1200}
	l := Law{Judged: 1300, OpenReasons: reasons, Rules: []LawRule{
		{ID: "law/a", Passes: 1, Breaches: 2}, {ID: "law/b", Passes: 1, OpenReasons: reasons}, {ID: "law/c", OpenReasons: reasons}, {ID: "law/d"},
	}}
	want := []string{
		"broken: kept 1 time, broken 2 times", "kept: kept 1 time, open 1,200 (same jid)", "open: open 1,200 (same jid)",
		"not reached: not reached",
	}
	for i := range l.Rules {
		l.Rules[i].Decide()
		assert.Equal(t, want[i], l.Rules[i].Outcome+": "+l.Rules[i].Words())
	}
	assert.Equal(t, "in addition to the scripts, 1,300 messages of the server were checked with the rules of the "+
		"protocol (law/...); 1,200 could not be checked (same jid); 1 rule did not apply", l.Words())
}
