package explore

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
)

// TestSilenceIsDoubtful: that nothing came on a connection of a server that serves is a finding, but another bug may
// be the reason. Where nothing is judged, or the command may wait still, it is none.
func TestSilenceIsDoubtful(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ judged, waits bool }{{true, false}, {true, true}, {false, false}} {
		synctest.Test(t, func(t *testing.T) {
			target := &ponging{}
			p, _ := stub(target, nil)
			c, err := p.dial(t.Context(), 1, &scenarios.Connect{Role: scenarios.Raw})
			require.NoError(t, err)
			p.conns[1], c.isJudged, c.clause = c, test.judged, "put"
			p.law = waiting{p.law, test.waits}
			p.judgeSilence(t.Context(), c)
			assert.Empty(t, p.conns, "nothing is awaited on it any more")
			if test.judged && !test.waits && assert.Len(t, p.sightings, 1) {
				f := p.sightings[0]
				assert.Equal(t, []string{RuleSilent, "of what is awaited", "nothing within 10s"}, []string{f.Rule, f.Clause, f.Got})
				assert.True(t, f.Doubtful)
				assert.False(t, f.crash)
			} else {
				assert.Len(t, p.sightings, b2i(test.judged && !test.waits))
			}
			for _, c := range target.conns {
				_ = c.Close()
			}
		})
	}
}

// TestUnfinishedReplies: a reply that has begun breaks the rule of what it lacks, however long its command may wait.
// One whose bytes keep arriving is none in the end.
func TestUnfinishedReplies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]finding{
		"+OK\r": {RuleGrammar, "of grammar:line-end", "an unfinished reply: LF"},
		"+" + strings.Repeat("x", 400): {
			RuleSilent, "of what is awaited", "a reply that was still coming: the end of a line",
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := &ponging{}
			p, _ := stub(target, nil)
			c, err := p.dial(t.Context(), 1, &scenarios.Connect{Role: scenarios.Raw})
			require.NoError(t, err)
			c.isJudged = true
			p.conns[1], p.law = c, waiting{p.law, want.rule == RuleGrammar}
			server := target.conns[0]
			var writing sync.WaitGroup
			writing.Go(func() {
				for i := range text {
					if _, err := server.Write([]byte(text[i : i+1])); err != nil {
						return
					}
					<-time.After(time.Second / 2)
				}
			})
			<-time.After(2 * time.Second) // the short one is there as far as it goes
			p.judgeSilence(t.Context(), c)
			assert.Empty(t, p.conns)
			if assert.Len(t, p.sightings, 1) {
				f := p.sightings[0]
				assert.Equal(t, want, finding{f.Rule, f.Clause, f.Got})
			}
			for _, c := range target.conns {
				_ = c.Close()
			}
			writing.Wait()
		})
	}
}

// finding is what is compared of a violation.
type finding struct{ rule, clause, got string }

// waiting is a law whose commands may wait or not.
type waiting struct {
	Law
	waits bool
}

func (w waiting) MayWait(int, time.Time) bool { return w.waits }
func (waiting) OverdueClause(int) string      { return "of what is awaited" }

// idling is a law that knows whether what is owed can come.
type idling struct {
	*namedLaw
	idle bool
}

func (l idling) IsIdle(int, time.Time) bool { return l.idle }

// An exploration does not wait for a reply while the law knows that none can come.
func TestWhatCannotComeIsAwaitedLater(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		idle, goOn, sends bool // sends: a line follows on the same connection
		owesReply         int  // behind the steps
	}{
		"it goes on":      {idle: true, goOn: true, owesReply: 1},
		"it may come now": {goOn: true},
		"it does not":     {idle: true},
		"a line follows":  {idle: true, goOn: true, sends: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := &ponging{}
			p, l := stub(target, nil)
			c, err := p.dial(t.Context(), 1, &scenarios.Connect{Role: scenarios.Raw})
			require.NoError(t, err)
			p.conns[1], p.law, c.dueReplies = c, idling{l, test.idle}, 1
			build := Builder{p.dialect}
			steps := []Step{build.Await(1)}
			if test.sends {
				steps = append(steps, build.Line(1, "inspect queues 0 1"))
			}
			x := &exploration{Explorer: &Explorer{}, play: p}
			x.steps(t.Context(), steps, test.goOn)
			assert.Equal(t, test.owesReply, c.dueReplies, name)
			for _, c := range target.conns {
				_ = c.Close()
			}
		})
	}
}
