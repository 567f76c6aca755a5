package fwpsuite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
)

func TestJIDOfAReply(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		`${"jid":"j1","args":[]}`:                "j1",
		`${ "args" : [ ],	"jid" :	"j 1" }`:       "j 1",
		`${\r\n\t"\\u006aid"\r\n:\t"j\\u0031" }`: "j1",
		`${"jid":"j1","args":["0123 … (8405 b`:   "j1",
		`${"args":["0123 … (8405 bytes in all)`:  "",
		`$-1`: "",
	} {
		assert.Equal(t, want, jidOf(conformance.Exchange{Got: got}), got)
	}
}

// A state counts however its JSON is written.
func TestGoalOfAState(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]bool{
		`+OK`: false, `${"state":"quiet"}`: true, `+{ "state" : "quiet" }`: true, `${\r\n"\\u0073tate":"quiet"}`: true,
	} {
		goal := GoalOf("FWP-BEAT-03")
		assert.Equal(t, want, goal.Happened([]conformance.Exchange{{Sent: `BEAT {"wid":"w"}`, Got: got}}), got)
	}
}

func TestGoalOfAJobThatComesAgain(t *testing.T) {
	t.Parallel()
	push := conformance.Exchange{Sent: `PUSH {"jid":"j1"}`, Got: "+OK"}
	refused := conformance.Exchange{Sent: `PUSH {"jid":"j2"}`, Got: "-ERR"}
	came := conformance.Exchange{Sent: "FETCH q", Got: `${"jid":"j1"}`}
	other := conformance.Exchange{Sent: "FETCH q", Got: `${"jid":"j2"}`}
	long := conformance.Exchange{Sent: "FETCH q", Got: `${"args":["0123 … (8405 bytes in all)`}
	for name, test := range map[string]struct {
		all  []conformance.Exchange
		want bool
	}{
		"once":                 {[]conformance.Exchange{push, came}, false},
		"twice":                {[]conformance.Exchange{push, came, came}, true},
		"another one":          {[]conformance.Exchange{push, came, other}, false},
		"a long one, once":     {[]conformance.Exchange{push, long}, false},
		"a long one, twice":    {[]conformance.Exchange{push, long, long}, true},
		"two long ones":        {[]conformance.Exchange{push, push, long, long}, false},
		"one that was refused": {[]conformance.Exchange{push, refused, long, long}, true},
	} {
		assert.Equal(t, test.want, GoalOf("FWP-STATE-07").Happened(test.all), name)
	}
}
