package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/scenarios"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

func TestLinesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	all := []line{
		{key{"bug", "fwp/a", 1}, outcome{resultFound, []string{"A", "B"}, []string{"push/x", "law/y"}, nil, 1}},
		{key{"run", "fwp/b", 2}, outcome{result: resultNothing, openClauses: []string{"C"}, exit: 3}},
	}
	file := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, write(file, []line{all[1], all[0]}))
	got, err := read(file)
	require.NoError(t, err)
	assert.Equal(t, all, got, "in order")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, "bug\tfwp/c\t1\tfou"...), 0o600))
	got, err = read(file)
	require.NoError(t, err)
	assert.Equal(t, all, got, "without what an interruption left")

	for _, content := range []string{"bug\tx\t1\n", "planted bug\tx\tone\tfound\t-\t-\t-\t0\n",
		"bug\tx\t1\tfound\t-\t-\t-\tnone\n"} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err = read(file)
		assert.ErrorContains(t, err, file+":1:")
	}
	got, err = read(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, got)
}

// What a file has is not played again, an error of one play leaves the lines of the others, and an interruption leaves
// what is left to the next time.
func TestAPlayGoesOnWhereItHasStopped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lines")
	var played []string
	newPlay := func(name string, err error) play {
		return play{key{"bug", name, 1}, func(context.Context) (outcome, error) {
			played = append(played, name)
			return outcome{result: resultFound}, err
		}}
	}
	playAll := func(ctx context.Context, all ...play) ([]line, error) {
		played = nil
		return (&player{file: file, log: discardLog(), side: 1}).playAll(ctx, all)
	}
	names := func(all []line) (names []string) {
		for _, l := range all {
			names = append(names, l.name)
		}
		return names
	}

	_, err := playAll(t.Context(), newPlay("z", nil), newPlay("b", errors.New("broken")), newPlay("c", nil))
	require.ErrorContains(t, err, "bug b: broken")
	assert.Equal(t, []string{"z", "b", "c"}, played)

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = playAll(interrupted, newPlay("z", nil), newPlay("b", nil))
	require.ErrorContains(t, err, "interrupted")
	assert.Empty(t, played)

	all, err := playAll(t.Context(), newPlay("b", nil), newPlay("c", nil))
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, played)
	assert.Equal(t, []string{"b", "c"}, names(all), "and not what it was not asked for")
	all, err = read(file)
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "c", "z"}, names(all), "in order")

	_, err = playAll(t.Context(), repeatEach([]play{newPlay("b", nil), newPlay("d", nil)}, 2)...)
	require.NoError(t, err)
	assert.Equal(t, []string{"d", "b", "d"}, played, "the second time")
}

func TestWhatBecameOfAPlay(t *testing.T) {
	t.Parallel()
	a := outcome{resultFound, []string{"A"}, []string{"x"}, nil, 1}
	other := outcome{resultFound, []string{"B"}, []string{"x", "y"}, []string{"A"}, 1}
	empty := outcome{result: resultNothing}
	for name, test := range map[string]struct {
		before, after []outcome
		word, detail  string
	}{
		"the same":              {[]outcome{a}, []outcome{a}, "", ""},
		"the same, more often":  {[]outcome{a}, []outcome{a, a, a}, "", ""},
		"lost":                  {[]outcome{a}, []outcome{empty}, wordLost, "found -> nothing, clauses -A, checks -x, exit 1 -> 0"},
		"lost, from two":        {[]outcome{a, other}, []outcome{empty}, wordLost, ""},
		"elsewhere":             {[]outcome{a}, []outcome{{result: resultElsewhere}}, wordLost, ""},
		"gained":                {[]outcome{empty}, []outcome{a}, wordGained, ""},
		"changed":               {[]outcome{a}, []outcome{other}, wordChanged, "clauses -A +B, checks +y, open +A"},
		"unsteady before":       {[]outcome{a, other}, []outcome{a}, wordUnsteady, ""},
		"unsteady in details":   {[]outcome{a}, []outcome{other, a}, wordUnsteady, "clauses -A +B, checks +y, open +A"},
		"otherwise than before": {[]outcome{a, other}, []outcome{a, empty}, wordChanged, ""},
		"not found now":         {[]outcome{a}, []outcome{a, empty}, wordChanged, ""},
		"not there any more":    {[]outcome{a}, nil, wordMissing, ""},
		"not there before":      {nil, []outcome{a}, wordAdded, ""},
		"only the code differs": {[]outcome{empty}, []outcome{{result: resultNothing, exit: 3}}, wordChanged, "exit 0 -> 3"},
	} {
		lines := func(all []outcome) (lines []line) {
			for i, o := range all {
				lines = append(lines, line{key{"bug", "f", i + 1}, o})
			}
			return append(lines, line{key{"run", "steady", 1}, a})
		}
		differences := compare(lines(test.before), lines(test.after))
		out, isSame := tell(differences)
		assert.Equal(t, test.word == "" || test.word == wordUnsteady, isSame, name)
		if test.word == "" {
			assert.Empty(t, out, name)
			continue
		}
		require.Len(t, differences, 1, name)
		assert.Equal(t, test.word, differences[0].word, name)
		assert.Contains(t, out, "# "+test.word+": 1\n", name)
		if test.detail != "" {
			assert.Equal(t, test.detail, differences[0].detail, name)
		}
	}
}

func TestTheExitCodeOfACompare(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name string, o outcome) string {
		name = filepath.Join(folder, name)
		require.NoError(t, write(name, []line{{key{"bug", "f", 1}, o}}))
		return name
	}
	a, b := file("a", outcome{result: resultFound}), file("b", outcome{result: resultNothing})
	old, now := file("old", outcome{result: resultFound, checks: []string{"beat/quiet", "beat/told-again"}}),
		file("now", outcome{result: resultFound, checks: []string{"beat/order-repeated", "beat/quiet"}})
	code, err := program{out: io.Discard, log: discardLog()}.main(t.Context(), []string{"compare", old, now})
	require.NoError(t, err)
	assert.Equal(t, exitSame, code, "a check has a new name")
	for want, args := range map[int][]string{
		exitSame: {"compare", a, a}, exitChanged: {"compare", a, b},
		exitFailed: {"compare", a, filepath.Join(folder, "none")},
	} {
		code, err := program{out: io.Discard, log: discardLog()}.main(t.Context(), args)
		assert.Equal(t, want, code)
		assert.Equal(t, want == exitFailed, err != nil)
	}
	for _, args := range [][]string{nil, {"corpus"}, {"corpus", "-o", "x", "y"},
		{"corpus", "-o", "x", "-store"}, {"costs", "x"}, {"costs", "-turns", "0"}, {"corpus", "-o", "x", "-server", "fwp=y"}} {
		code, err := program{out: io.Discard, log: discardLog()}.main(t.Context(), args)
		assert.Equal(t, exitFailed, code)
		assert.ErrorContains(t, err, "usage:")
	}
}

// catalogueOf returns that of a name with the first checks of these ids.
func catalogueOf(t *testing.T, name string, checks ...string) catalogue {
	t.Helper()
	all, err := catalogues()
	require.NoError(t, err)
	c := all[slices.IndexFunc(all, func(c catalogue) bool { return c.name == name })]
	c.checks = slices.DeleteFunc(c.checks, func(check conformance.Check) bool {
		return !slices.Contains(checks, check.Describe().ID)
	})
	c.quickChecks, c.extra = c.checks, nil
	require.Len(t, c.checks, len(checks))
	return c
}

// runPlay plays what has a name, in a bubble.
func runPlay(t *testing.T, all []play, kind, name string) outcome {
	t.Helper()
	i := slices.IndexFunc(all, func(p play) bool { return p.kind == kind && p.name == name })
	require.GreaterOrEqual(t, i, 0, name)
	got, err := all[i].run(t.Context())
	require.NoError(t, err)
	return got
}

func TestBugsAndVariationsOfACatalogue(t *testing.T) {
	t.Parallel()
	workq := catalogueOf(t, "workq", "add/time-to-live", "inspect/job").plays(bubbles{t})
	assert.Equal(t, outcome{
		resultFound, []string{"WORKQ-ADD-08", "WORKQ-INSP-02"}, []string{"add/time-to-live", "inspect/job", "law/field"}, nil, 1,
	}, runPlay(t, workq, "bug", "workq/add-ttl-ignored"))
	assert.Equal(t, resultNothing, runPlay(t, workq, "bug", "workq/add-priority-unsigned").result,
		"no check of these looks at it")
	assert.Equal(t, outcome{result: resultNothing}, runPlay(t, workq, "variation", "workq/conforming"))
	assert.Equal(t, outcome{result: resultNothing}, runPlay(t, workq, "embedded", "workq/seed-20"))

	fwp := catalogueOf(t, "fwp", "ack/accepted", "push/accepted").plays(bubbles{t})
	assert.Equal(t, outcome{resultFound, []string{"FWP-ACK-01"}, []string{"ack/accepted"}, nil, 1},
		runPlay(t, fwp, "bug", "fwp/ack-other-answer"))
}

func TestEveryCatalogueIsThere(t *testing.T) {
	t.Parallel()
	all, err := catalogues()
	require.NoError(t, err)
	keys, count := map[key]bool{}, map[string]int{}
	for _, c := range all {
		for _, p := range c.plays(bubbles{t}) {
			assert.False(t, keys[p.key], "%v is there twice", p.key)
			keys[p.key] = true
			count[p.kind+" "+path.Dir(p.name)]++
		}
	}
	for _, name := range []string{
		"fwp", "fwp/worker", "fwp/producer", "fwp-faktory", "workq", "workq/worker", "emqp", "emqp/worker",
	} {
		assert.Equal(t, name == path.Base(name), count["embedded "+name] == seeds, name)
		assert.NotZero(t, count["bug "+name], name)
		assert.NotZero(t, count["variation "+name], name)
	}
}

func TestTheResultOfACommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]outcome{
		`{}`: {result: resultNothing},
		`{"findings":[{"clause":"B","check":"explore","verdict":"warn"},{"clause":"A","check":"explore","verdict":"fail"},` +
			`{"clause":"C","check":"explore","verdict":"inconclusive"},{"check":"explore","verdict":"crash"}]}`: {
			result: resultFound, clauses: []string{"A", "B"}, checks: []string{"explore"},
		},
		`{"checks":[{"id":"x","verdict":"fail","clauses":[{"id":"A","verdict":"fail"},{"id":"B","verdict":"inconclusive"}]},` +
			`{"id":"y","verdict":"inconclusive","clauses":[{"id":"A","verdict":"inconclusive"}]}],"findings":[{"clause":"A","check":"x","verdict":"fail"}]}`: {
			result: resultFound, clauses: []string{"A"}, checks: []string{"x"}, openClauses: []string{"B"},
		},
	} {
		got, err := outcomeOfJSON([]byte(text))
		require.NoError(t, err)
		got.exit = 0 // that of the command counts
		assert.Equal(t, want, got, text)
	}
	got, err := outcomeOfJSON([]byte(`{"checks":[{"id":"x","verdict":"inconclusive","clauses":[` +
		`{"id":"A","verdict":"warn"},{"id":"B","verdict":"inconclusive"}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, got.checks, "that is open, and has found something all the same")
	_, err = outcomeOfJSON([]byte("no JSON"))
	assert.Error(t, err)
}

// The clauses that rules and breaches name are those of both tables, and a script has no other marks left.
func TestMarksThatARuleNames(t *testing.T) {
	t.Parallel()
	all, err := catalogues()
	require.NoError(t, err)
	result, err := withoutMarks(all)
	require.NoError(t, err)
	for _, c := range result {
		clauses, err := ruleClauses(c.fixture.Entry.Suite)
		require.NoError(t, err)
		for _, id := range map[string][]string{
			"fwp": {"FWP-PUSH-04", "FWP-RESP-03", "FWP-ACK-01", "FWP-HI-01"}, "workq": {"WORKQ-LINE-03", "WORKQ-ADD-01"},
			"emqp": {"EMQP-FRAME-01", "EMQP-SOCK-08"}, "fwp-faktory": {"FKT-QUEUE-01"},
		}[c.name] {
			assert.True(t, clauses[id], id)
		}
		count := 0
		for _, check := range c.checks {
			before := check.Describe().Marks
			for _, m := range c.convert(check).Describe().Marks {
				assert.Contains(t, before, m)
			}
			for step := range c.convert(check).(conformance.ScriptCheck).Script.All() {
				if e, ok := step.(*scenarios.Expect); ok {
					for _, m := range e.Marks {
						assert.True(t, m.Record || !clauses[m.Clause], "%s: %s", check.Describe().ID, m.Clause)
					}
				}
			}
			count += len(before) - len(c.convert(check).Describe().Marks)
		}
		assert.NotZero(t, count, c.name)
	}
}

// A bug that the law finds is found without the marks of the lines too, and one is not that a line alone finds.
func TestBugsWithoutMarks(t *testing.T) {
	t.Parallel()
	result, err := withoutMarks([]catalogue{catalogueOf(t, "workq", "add/time-to-live", "inspect/job")})
	require.NoError(t, err)
	plays := result[0].plays(bubbles{t})
	assert.Equal(t, outcome{resultFound, []string{"WORKQ-INSP-02"}, []string{"add/time-to-live", "law/field"}, nil, 1},
		runPlay(t, plays, "bug", "workq/add-ttl-ignored"))
}

// replies are right ones with what each mutation makes of them.
func TestMutationsOfAReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		protocol, raw, other string
		want                 map[string]string // by the name of the mutation
	}{
		"a string": {"fwp", "+OK\r\n", "", map[string]string{
			"kind 0": "-ERR wrong\r\n", "kind 2": "$-1\r\n", "kind 3": "$2\r\n{}\r\n",
			"character ": "+OL\r\n", "cut ": "+O\r\n", "twice ": "+OK\r\n+OK\r\n",
		}},
		"an error, whose text is free": {"fwp", "-ERR no\r\n", "-ERR not\r\n", map[string]string{
			"kind 1": "+OK\r\n", "kind 2": "$-1\r\n", "kind 3": "$2\r\n{}\r\n",
			"twice ": "-ERR no\r\n-ERR no\r\n",
		}},
		"null": {"fwp", "$-1\r\n", "", map[string]string{
			"kind 0": "-ERR wrong\r\n", "kind 1": "+OK\r\n", "kind 3": "", "twice ": "$-1\r\n$-1\r\n",
		}},
		"a job": {"fwp", "$18\r\n{\"a\":\"b\",\"n\":[2]}\r\n", "$2\r\n{}\r\n", map[string]string{
			"kind 0": "-ERR wrong\r\n", "kind 1": "+OK\r\n", "kind 2": "$-1\r\n",
			"without a": "$9\r\n{\"n\":[2]}\r\n", "without n": "$9\r\n{\"a\":\"b\"}\r\n",
			"field a": "$18\r\n{\"a\":\"bx\",\"n\":[2]}\r\n", "field n": "$19\r\n{\"a\":\"b\",\"n\":[\"x\"]}\r\n",
			"character ": "", "cut ": "$8\r\n{\"a\":\"b\"\r\n", "another ": "$2\r\n{}\r\n", "twice ": "",
		}},
		"Workq": {"workq", "+OK 1\r\nid4 name 3\r\nttr 5\r\n", "", map[string]string{
			"kind 1": "-NOT-FOUND\r\n", "kind 2": "-TIMEOUT\r\n", "field word 00": "",
			"field word 01": "+OK 2\r\nid4 name 3\r\nttr 5\r\n",
			"field word 02": "", "field word 03": "", "field word 04": "", "field word 05": "",
			"field word 06 ttr": "+OK 1\r\nid4 name 3\r\nttr 6\r\n", "character ": "", "cut ": "", "twice ": "",
		}},
		"eMQP": {"emqp", string(zmtp.AppendMessage(nil, []byte("a"), nil, []byte("c"), []byte("d"))), "", map[string]string{
			"field frame 0": string(zmtp.AppendMessage(nil, []byte("b"), nil, []byte("c"), []byte("d"))),
			"field frame 1": "", "field frame 2": "", "character ": "", "cut ": "", "twice ": "",
		}},
	} {
		r := reply{raw: []byte(test.raw)}
		if test.other != "" {
			r.other = []byte(test.other)
		}
		for _, m := range encodings(test.protocol).mutations(r) {
			label := m.name + " " + m.at
			want, ok := test.want[label]
			switch {
			case m.change == nil:
				assert.True(t, m.isClose || m.delay > 0, name)
				continue
			case assert.True(t, ok, "%s: %s", name, label) && want != "":
				assert.Equal(t, want, string(m.change(r)), "%s: %s", name, label)
			}
			assert.Equal(t, test.raw, string(r.raw), "%s: %s changes the right one", name, label)
			delete(test.want, label)
		}
		delete(test.want, "kind 3")
		assert.Empty(t, test.want, name)
	}
}

// The mutants of a script: those of each kind are found, with a clause.
func TestMutants(t *testing.T) {
	t.Parallel()
	c := catalogueOf(t, "fwp", "push/accepted")
	all, err := c.mutants(bubbles{t})
	require.NoError(t, err)
	killed, kinds := 0, map[string]bool{}
	for _, entry := range all {
		got, err := entry.run(t.Context())
		require.NoError(t, err)
		if got.result == resultFound {
			killed++
			assert.NotEmpty(t, got.clauses, entry.name)
			kinds[entry.kind] = true
		}
	}
	assert.Greater(t, killed, 25)
	for _, kind := range []string{"kind", "field", "character", "cut", "twice", "late", "close"} {
		assert.True(t, kinds["mutant-"+kind], kind)
	}
	assert.Equal(t, resultFound, runPlay(t, all, "mutant-field", "fwp/push/accepted:0008 decides jid").result)
}

// Real servers and workers are played three times by a command, whose findings and exit code count; what it says where
// it cannot play is an error.
func TestRealOnes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command of this test is a script of a shell")
	}
	fwpcheck := filepath.Join(t.TempDir(), "fwpcheck")
	require.NoError(t, os.WriteFile(fwpcheck, []byte(`#!/bin/sh
case "$*" in
*unreachable*) echo "it is not there" >&2; exit 4;;
"explore --protocol workq --format json --no-progress --seed 1 --start ./server {port} --time 30s")
	echo '{"findings":[{"clause":"A","check":"explore","verdict":"fail"}]}'; exit 1;;
"worker --protocol fwp --format json --no-progress --seed 1 -- sh -c exec ./worker")
	echo '{"checks":[{"id":"x","verdict":"inconclusive","clauses":[{"id":"B","verdict":"inconclusive"}]}]}'; exit 3;;
*) echo "{}";;
esac
`), 0o700)) //nolint:gosec // it is a program
	var servers, workers strangers
	require.NoError(t, servers.Set("workq/server=./server {port}"))
	require.NoError(t, servers.Set("fwp/gone=unreachable"))
	require.NoError(t, workers.Set("fwp/library=./worker"))
	all := playsOf(fwpcheck, servers, workers)
	assert.Len(t, all, 5*realPlays)

	assert.Equal(t, outcome{result: resultNothing}, runPlay(t, all, "run", "workq/server"))
	assert.Equal(t, outcome{resultFound, []string{"A"}, []string{"explore"}, nil, 1}, runPlay(t, all, "explore", "workq/server"))
	assert.Equal(t, outcome{result: resultNothing, openClauses: []string{"B"}, exit: 3}, runPlay(t, all, "worker", "fwp/library"))
	index := slices.IndexFunc(all, func(p play) bool { return p.name == "fwp/gone" })
	_, err := all[index].run(t.Context())
	require.ErrorContains(t, err, "it is not there")
	for _, text := range []string{"server", "server=", "x/server=y", "fwp/=y", "fwp=y"} {
		require.Error(t, servers.Set(text), text)
	}
}

func TestTheRolesOfLines(t *testing.T) {
	t.Parallel()
	for check, want := range map[string]map[int]string{
		"push/accepted":                {6: "decides", 8: "decides", 12: "prepares"},
		"flush/ok":                     {8: "either", 13: "prepares"},
		"ack/malformed-keeps-the-jobs": {7: "prepares", 34: "awaits", 43: "awaits"},
	} {
		roles := roles(catalogueOf(t, "fwp", check).checks[0].(conformance.ScriptCheck).Script)
		for line, role := range want {
			assert.Equal(t, role, roles[line], "%s:%d", check, line)
		}
	}
}
