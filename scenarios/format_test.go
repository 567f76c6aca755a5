package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/target"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

func TestFormatOfParsedScripts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ source, want string }{
		"header in its order, each with the comments above it": {
			"# of needs\nneeds:  flush\n\n\n# of\n\n# the title\ntitle:a  b \nneeds: alone  open\nwaits:60s\nC: INFO\n",
			"# of\n# the title\ntitle: a  b\n# of needs\nneeds: open alone flush\nwaits: 60s\nC: INFO\n",
		},
		"comments of a header line that says nothing": {
			"# kept\ntitle:\nC: INFO\n", "# kept\nC: INFO\n",
		},
		"needs that are implied are not written": {"restart\n", "restart\n"},
		"blocks are indented, comments and marks in them too": {
			"table\n\n\n# row\nC: INFO\n   clause  A-1   MUST   NOT B-2\nS:$\n\n# last\n\n   end  \n",
			"table\n  # row\n  C: INFO\n  clause A-1 MUST NOT B-2\n  S: $\n\n  # last\nend\n",
		},
		"one empty line between groups, none at the ends": {
			"\n\nC: INFO\n \t\n\n# c\n\n\nS: $\n\n\n# d  \n\n", "C: INFO\n\n# c\n\nS: $\n\n# d\n",
		},
		"Windows line ends, a byte order mark, no final newline": {
			"\ufefftitle: x\r\n\r\n\r\n# y\r\nC: INFO\r\nS: $", "title: x\n\n# y\nC: INFO\nS: $\n",
		},
		"what clients send stays as it is": {
			"C:INFO\nC:  INFO \nC:\nC[a]   bytewise   bad : A<|>$5 $$ $jid#\n", "C: INFO\nC:  INFO \nC:\n" +
				"C[a] bad bytewise: A<|>$5 $$ $jid#\n",
		},
		"Go strings as they were written": {
			"C raw:  \"\\x41\"\t`b`\"\\u0000\"\nC raw: \"a<|>b\" \"\\x41\"\n",
			"C raw: \"\\x41\" `b` \"\\u0000\"\nC raw: \"a\" \"b\" \"A\"\n",
		},
		"endings": {"C:<close> \nC[a]:  <half-close>\nS: <fin>|<reset>\n", "C: <close>\nC[a]: <half-close>\n" +
			"S: <fin> | <reset>\n"},
		"expectations": {
			"S   ..2s :+OK |-\nS[a] 1.50s..:${ \"a\" : contains( \"b\" ) }|$-1\nS: -/a\\/b/\n",
			"S ..2s: +OK |-\nS[a] 1.50s..: ${ \"a\" : contains( \"b\" ) } | $-1\nS: -/a\\/b/\n",
		},
		"connections": {
			"connect   as  raw\nconnect a as consumer   { \"wid\" : \"x\" } \n", "connect as raw\n" +
				"connect a as consumer { \"wid\" : \"x\" }\n",
		},
		"waiting": {"silence   90s\nsilence 1s  on a  b\neventually   1m..\nC: INFO\nend\n", "silence 90s\n" +
			"silence 1s on a b\neventually 1m..\n  C: INFO\nend\n"},
		"operators": {"quiet  $wid \nterminate x\nkill\nrestart\n", "quiet $wid\nterminate x\nkill\nrestart\n"},
		"blocks": {
			"repeat 07\nC: INFO\nend\nrepeat 2 by 1 consumer\nC: INFO\nend\nrepeat 2 by 2 raw\nC: INFO\nend\n",
			"repeat 7\n  C: INFO\nend\nrepeat 2 by 1 consumers\n  C: INFO\nend\nrepeat 2 by 2 raw\n  C: INFO\nend\n",
		},
		"marks stay where they are": {
			"setup\nclause A-1\nclause A-1\nC: INFO\nrecord B-1 SHOULD NOT\nS: $\n", "setup\nclause A-1\nclause A-1\n" +
				"C: INFO\nrecord B-1 SHOULD NOT\nS: $\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(test.source))
			require.NoError(t, err)
			assert.Equal(t, test.want, string(scenarios.Format(s)))
		})
	}
}

// template parses a client's text of one segment or several.
func template(t *testing.T, text string) []scenarios.Template {
	t.Helper()
	segments, err := scenarios.ParseTemplate(fwpscript.Dialect{}, text)
	require.NoError(t, err)
	return segments
}

func choices(t *testing.T, text string) []scenarios.Choice {
	t.Helper()
	all, err := scenarios.ParseChoices(fwpscript.Dialect{}, text)
	require.NoError(t, err)
	return all
}

func TestFormatOfBuiltScripts(t *testing.T) {
	t.Parallel()
	hello, err := scenarios.ParseObject(fwpscript.Dialect{}, `{"wid":"$wid2"}`)
	require.NoError(t, err)
	empty := scenarios.Statement{Asides: []scenarios.Aside{{}, {Comment: "# then"}}}
	soon := scenarios.Window{From: time.Second, To: 2 * time.Second}
	record := []scenarios.ClauseMark{{Clause: "FWP-END-01", Record: true}}
	marks := []scenarios.ClauseMark{{Clause: "FWP-ACK-01"}, {Clause: "FWP-ACK-02", Level: "SHOULD NOT"}}
	s := &scenarios.Script{Dialect: fwpscript.Dialect{},
		Title: "built", Waits: time.Minute,
		Needs: []scenarios.Need{scenarios.NeedKill, scenarios.NeedAlone, scenarios.NeedOpen},
		Steps: []scenarios.Step{
			&scenarios.Connect{Conn: "a", Role: scenarios.Consumer, Hello: hello},
			&scenarios.Send{Statement: empty, Conn: "a", Segments: template(t, "FE<|>TCH $queue"), Bad: true},
			&scenarios.Send{Conn: "a", Segments: template(t, "INFO\r\nEND"), Bytewise: true},
			&scenarios.Send{Conn: "a", Segments: template(t, "\xff $jid\n"), Raw: true},
			&scenarios.Send{Conn: "a", Segments: template(t, "<close>")},
			&scenarios.Send{Conn: "a", Segments: template(t, "INFO\r")},
			&scenarios.Expect{
				Conn: "a", Window: scenarios.Window{To: 90 * time.Second}, Choices: choices(t, "+OK | -"), Marks: marks,
			},
			&scenarios.Expect{Conn: "a", Choices: choices(t, "+OK"), Marks: record},
			&scenarios.Silence{For: 1500 * time.Millisecond, Conns: []string{"a"}},
			&scenarios.Operate{Action: target.Quiet, Worker: template(t, "$wid2")[0]},
			&scenarios.Operate{Action: target.Kill},
			&scenarios.Block{Kind: scenarios.Eventually, Window: soon, Marks: marks, Steps: []scenarios.Step{
				&scenarios.Send{Conn: "a", Ending: scenarios.HalfClosed},
			}, After: []scenarios.Aside{{Comment: "# nothing more"}}},
			&scenarios.Block{Kind: scenarios.Repeat, Count: 4, By: 2, Role: scenarios.Producer, Steps: []scenarios.Step{
				&scenarios.Send{Segments: template(t, "INFO")},
				&scenarios.Expect{Choices: choices(t, "$"), Marks: marks},
			}},
		},
		After: []scenarios.Aside{{}, {Comment: "# over"}},
	}
	const want = `title: built
needs: open alone
waits: 1m0s
connect a as consumer {"wid":"$wid2"}

# then
C[a] bad: FE<|>TCH $queue
C[a] raw bytewise: "INFO\r\nEND\r\n"
C[a] raw: "\xff $jid\n"
C[a] raw: "<close>\r\n"
C[a] raw: "INFO\r\r\n"
clause FWP-ACK-01 FWP-ACK-02 SHOULD NOT
S[a] ..1m30s: +OK | -
record FWP-END-01
S[a]: +OK
setup
silence 1.5s on a
quiet $wid2
kill
clause FWP-ACK-01 FWP-ACK-02 SHOULD NOT
eventually 1s..2s
  C[a]: <half-close>
  # nothing more
end
repeat 4 by 2 producers
  C: INFO
  S: $
end

# over
`
	assert.Equal(t, want, string(scenarios.Format(s)))
	parsed, err := scenarios.Parse(fwpscript.Dialect{}, "built", []byte(want))
	require.NoError(t, err)
	assert.Equal(t, want, string(scenarios.Format(parsed)))
}

func TestPartsOfScriptsThatDoNotParse(t *testing.T) {
	t.Parallel()
	tests := map[string]func(d scenarios.Dialect) error{
		"a template": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseTemplate(d, "$filler")
			return err
		},
		"choices": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseChoices(d, "+OK | x")
			return err
		},
		"choices of two lines": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseChoices(d, "+OK\n")
			return err
		},
		"an object that is none": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseObject(d, "[]")
			return err
		},
		"text behind an object": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseObject(d, "{} ")
			return err
		},
		"an object with a type in it": func(d scenarios.Dialect) error {
			_, err := scenarios.ParseObject(d, `{"a":int}`)
			return err
		},
	}
	for name, parse := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Error(t, parse(fwpscript.Dialect{}))
		})
	}
}

func TestTemplatesAreRenamed(t *testing.T) {
	t.Parallel()
	rename := func(name string) string {
		return map[string]string{"$jid4": "$jid", "$queue2#": "$queue1#"}[name]
	}
	const text = `PUSH {"jid":"$jid4","at":"$now+2s","queue":"$queue2#","x":"$$5 $6"}`
	renamed, err := template(t, text)[0].Rename(rename)
	require.NoError(t, err)
	assert.Equal(t, `PUSH {"jid":"$jid","at":"$now+2s","queue":"$queue1#","x":"$$5 $6"}`, renamed.String())
	for name, to := range map[string]string{"nothing": "", "no name": "jid", "two": "$jid $jid", "no value": "$filler"} {
		_, err := template(t, "$jid")[0].Rename(func(string) string { return to })
		assert.Error(t, err, name)
	}
}

func TestMarkBadMarksWhatBreaksTheProtocol(t *testing.T) {
	t.Parallel()
	const want = `connect as consumer
C: FETCH $queue
C bad: FETCH  $queue
C bad bytewise: INFO x
C raw: "INFO x\r\n"
repeat 2
  C bad: ACK {"jid":5}
  C: ACK {"jid":"$jid#"}
end
`
	replacer := strings.NewReplacer("C bad: ", "C: ", "C bad bytewise", "C bytewise", "C: FETCH $", "C bad: FETCH $")
	s, err := scenarios.Parse(fwpscript.Dialect{}, "marks", []byte(replacer.Replace(want)))
	require.NoError(t, err)
	scenarios.MarkBad(s)
	assert.Equal(t, want, string(scenarios.Format(s)))
	assert.Empty(t, scenarios.Lint(s))
	script := &scenarios.Script{
		Dialect: fwpscript.Dialect{},
		Steps:   []scenarios.Step{&scenarios.Send{Segments: template(t, "info")}},
	}
	assert.Len(t, scenarios.Lint(script), 1)
	scenarios.MarkBad(script)
	assert.Empty(t, scenarios.Lint(script))
}
