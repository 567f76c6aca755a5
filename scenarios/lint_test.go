package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// lint lists the problems of a script: line, advice or not, and message.
func lint(t *testing.T, text string) []string {
	t.Helper()
	s, err := scenarios.Parse(fwpscript.Dialect{}, "script", []byte(text))
	require.NoError(t, err)
	var all []string
	for _, p := range scenarios.Lint(s) {
		kind := ""
		if p.Advice {
			kind = "advice: "
		}
		all = append(all, fmt.Sprintf("%d: %s%s", p.Line, kind, p.Message))
	}
	return all
}

func TestLintRules(t *testing.T) {
	t.Parallel()
	const (
		producer = "connect as producer\n"
		consumer = "connect as consumer\n"
		early    = "this line breaks the protocol: INFO must not be sent while the connection is not identified"
		ended    = "this line breaks the protocol: INFO must not be sent while the connection is ended"
	)
	tests := map[string]struct {
		text string
		want []string
	}{
		"a connection that nothing opens is raw": {"C: INFO\n", []string{"1: " + early}},
		"the mark says so":                       {"C bad: INFO\n", nil},
		"a mark in vain": {
			producer + "C bad: INFO\n",
			[]string{"2: this line is marked bad, but it is legal"},
		},
		"HELLO that is accepted":       {"C: HELLO {\"v\":2}\nS: +OK\nC: INFO\n", nil},
		"any simple string accepts it": {"C: HELLO {\"v\":2}\nS: +\nC: INFO\n", nil},
		"HELLO that is refused": {
			"C: HELLO {\"v\":2}\nS: -\nC: INFO\n",
			[]string{"3: " + early},
		},
		"HELLO of another connection": {
			"C[a]: HELLO {\"v\":2}\nS[a]: +OK\nC: INFO\n",
			[]string{"3: " + early},
		},
		"nothing after END": {producer + "C: END\nC: INFO\n", []string{"3: " + ended}},
		"nothing after a close of the client's": {
			producer + "C: <close>\nC: INFO\n",
			[]string{"3: " + ended},
		},
		"nothing after a close that has to come": {
			producer + "S: <close>\nC: INFO\n",
			[]string{"3: " + ended},
		},
		"a close that may come":          {producer + "S: +OK | <close>\nC: INFO\n", nil},
		"a connection is opened again":   {producer + "C: END\nconnect as producer\nC: INFO\n", nil},
		"a restart ends all connections": {producer + "restart\nC: INFO\n", []string{"3: " + early}},
		"an operator's signal ends none": {consumer + "quiet $wid\nC: INFO\n", nil},
		"a worker that was made quiet": {
			consumer + "C: BEAT {\"wid\":\"$wid\"}\nS: ${\"state\":\"quiet\"}\nC: FETCH $queue\n",
			[]string{"4: this line breaks the protocol: FETCH must not be sent while the connection is quiet"},
		},
		"one that may have been": {
			consumer + "C: BEAT {\"wid\":\"$wid\"}\nS: ${\"state\":\"quiet\"} | +OK\nC: FETCH $queue\n",
			nil,
		},
		"raw bytes are not judged": {producer + "C raw: \"INFO x\\r\\n\" \"more\"\n", nil},
		"unless they are marked": {
			producer + "C bad raw: \"INFO\\r\\n\"\n",
			[]string{"2: this line is marked bad, but it is legal"},
		},
		"a line that is cut is one line": {
			producer + "C: IN<|>FO\nC: INFO<|> x\n",
			[]string{"3: this line breaks the protocol: command syntax: byte 4: " +
				"expected the end of the line: INFO takes no arguments, got \" x\""},
		},
		"a name without a value": {
			producer + "C: ACK {\"jid\":\"$x\"}\n",
			[]string{"2: $x has no value here"},
		},
		"a name that a reply binds": {
			producer + "S: ${\"jid\":\"$x\",\"a\":[{\"b\":$y}]}\nC: ACK {\"jid\":\"$x$y\"}\n",
			nil,
		},
		"or one alternative of it": {
			producer + "S: - | ${\"jid\":null | \"$x\"}\nC: ACK {\"jid\":\"$x\"}\n",
			nil,
		},
		"part of a text binds nothing": {
			producer + "S: ${\"jid\":\"a$x\"}\nC: ACK {\"jid\":\"$x\"}\n",
			[]string{"3: $x has no value here"},
		},
		"the worker id of an operator": {
			consumer + "quiet $x\n",
			[]string{"2: $x has no value here"},
		},
		"a hash for a connection that there is not": {
			"C: HELLO {\"v\":2,\"pwdhash\":\"$pwdhash@a\"}\n",
			[]string{"1: $pwdhash@a: there is no connection a"},
		},
		"an indexed name outside of repetitions": {
			producer + "C: PUSH $job{\"jid\":\"$jid#\"}\n",
			[]string{"2: $jid# has values only in a repeat block"},
		},
		"an indexed name in a repetition": {
			producer + "repeat 2\nC: ACK {\"jid\":\"$jid#\"}\nend\n",
			nil,
		},
		"an indexed name in another block": {
			producer + "table\nC: ACK {\"jid\":\"$jid#\"}\nend\n",
			[]string{"3: $jid# has values only in a repeat block"},
		},
		"names of a repetition end with it": {
			producer + "repeat 2\nS: ${\"jid\":\"$x\"}\nend\nC: ACK {\"jid\":\"$x\"}\n",
			[]string{"5: $x has no value here"},
		},
		"workers have connections of their own": {
			producer + "C: END\nrepeat 2 by 2 consumers\nC: INFO\nend\nC: INFO\n",
			[]string{"6: " + ended},
		},
		"which have no names": {
			producer + "connect a as raw\nrepeat 2 by 2 consumers\nS[a]: +\nend\n",
			[]string{"4: 2 workers cannot share a connection"},
		},
		"one worker may use a connection with a name": {
			"connect a as producer\nrepeat 2 by 1 consumers\nC[a]: INFO\nend\n",
			nil,
		},
		"unordered holds replies only": {
			producer + "unordered\nC: INFO\nend\n",
			[]string{"3: an unordered block may have only S: lines"},
		},
		"advice about a queue": {
			producer + "C: PUSH $job{\"queue\":\"A.b\"}\n",
			[]string{"2: advice: the queue name \"A.b\" has other characters than letters, digits, - and _"},
		},
		"advice about a jid": {
			producer + "C: PUSH $job{\"jid\":\"short\"}\n",
			[]string{"2: advice: the jid \"short\" has fewer than 16 characters, which some servers refuse"},
		},
		"no advice about bad lines": {producer + "C bad: PUSH {\"jid\":\"short\"}\n", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, lint(t, test.text))
		})
	}
}
