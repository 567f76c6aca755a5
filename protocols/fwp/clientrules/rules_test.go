package clientrules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// ruleTest is a stream that a rule is tried on. Where it is right, the rule's situation comes up and no rule at all
// finds anything; where it is wrong, the rule finds something, and of the others those that are named too; where it is
// open, the machine was too late for the rule to decide.
type ruleTest struct {
	breach  string
	name    string
	isWrong bool
	isOpen  bool
	others  string // breaches of other rules that the stream shows as well, with spaces between them
	cfg     Config
	stream  string
}

func ruleTests() []ruleTest {
	return slices.Concat(
		lineTests(), greetingTests(), workerTests(), pushTests(), fetchTests(), jobTests(), beatTests(), stateTests(),
		endTests(), serverTests(),
	)
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, test := range ruleTests() {
		t.Run(test.breach+"/"+test.name, func(t *testing.T) {
			t.Parallel()
			events, end := streamOf(t, test.stream)
			results := judgeAll(test.cfg, events, end)
			broken := []string{}
			for _, r := range results {
				if r.State() == StateBroken {
					broken = append(broken, r.Rule.Breach)
				}
				if r.Rule.Breach == test.breach {
					assert.Equal(t, test.isOpen, r.State() == StateInconclusive, "whether nothing decides the rule")
				}
			}
			want := strings.Fields(test.others)
			if test.isWrong {
				want = append(want, test.breach)
			}
			assert.ElementsMatch(t, want, broken, "%s", examples(results))
		})
	}
}

func examples(results []Result) string {
	var b strings.Builder
	for _, r := range results {
		for _, e := range r.Examples {
			b.WriteString(e.Name + ": " + e.Text + "\n")
			for _, m := range e.Evidence {
				b.WriteString("  " + m.String() + "\n")
			}
		}
	}
	return b.String()
}

// Each rule has at least two streams that it accepts and two that it does not.
func TestEachRuleHasTests(t *testing.T) {
	t.Parallel()
	type counts struct{ right, wrong int }
	byBreach := map[string]*counts{}
	for _, rule := range slices.Concat(Rules(), ServerRules()) {
		assert.Nil(t, byBreach[rule.Breach], "%s: two rules of one name", rule.Breach)
		assert.NotEmpty(t, rule.Goal, rule.Breach)
		byBreach[rule.Breach] = &counts{}
	}
	for _, test := range ruleTests() {
		c := byBreach[test.breach]
		if !assert.NotNil(t, c, "a test of %s, which is no rule", test.breach) {
			continue
		}
		if test.isWrong {
			c.wrong++
		} else {
			c.right++
		}
	}
	for breach, c := range byBreach {
		assert.GreaterOrEqual(t, c.right, 2, "streams that %s accepts", breach)
		assert.GreaterOrEqual(t, c.wrong, 2, "streams that %s does not accept", breach)
	}
}

// Without any event nothing is decided.
func TestNothingSeenIsInconclusive(t *testing.T) {
	t.Parallel()
	for _, r := range judgeAll(Config{}, nil, 0) {
		assert.Equal(t, StateInconclusive, r.State(), r.Rule.Breach)
	}
}

// judgeAll runs the rules over a whole stream that ends at a time, and returns what is known of each.
func judgeAll(cfg Config, stream []Event, end time.Duration) []Result {
	w := NewWatch(cfg)
	for _, e := range stream {
		w.See(e)
	}
	w.End(end)
	return w.Results()
}
