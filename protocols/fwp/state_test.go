package fwp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

var (
	states = []fwp.State{fwp.NotIdentified, fwp.Identified, fwp.Quiet, fwp.Terminating, fwp.Ended}
	verbs  = []string{fwp.HELLO, fwp.FLUSH, fwp.INFO, fwp.END, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT, "hello",
		""}
)

func TestStateAllows(t *testing.T) {
	t.Parallel()
	// A column for each verb, in the order of verbs.
	want := map[fwp.State]string{
		fwp.NotIdentified: "y--------" + "--",
		fwp.Identified:    "yyyyyyyyy" + "--",
		fwp.Quiet:         "yyy-y-yyy" + "--",
		fwp.Terminating:   "yyyyy-yyy" + "--",
		fwp.Ended:         "---------" + "--",
		fwp.State(9):      "---------" + "--",
	}
	for s, row := range want {
		for i, verb := range verbs {
			assert.Equal(t, row[i] == 'y', s.Allows(verb), "%s in state %s", verb, s)
		}
	}
}

// Every state with every verb and every kind of reply. Only the rows below move.
func TestStateNext(t *testing.T) {
	t.Parallel()
	const n, i, q, x, e = fwp.NotIdentified, fwp.Identified, fwp.Quiet, fwp.Terminating, fwp.Ended
	quiet, terminate := `{"state":"quiet"}`, ` {"wid": "a", "state" : "terminate"}`
	replies := map[string]fwp.Reply{
		"none": {}, "OK": simple("OK"), "ok": simple("ok"), "bulk OK": bulk("OK"), "null": {Kind: fwp.NullBulk},
		"integer": integer(1), "array": array(simple("OK")), "other object": bulk(`{"state":"paused"}`),
		"wrong case": bulk(`{"State":"quiet"}`), "twice": bulk(`{"state":"quiet","state":"quiet"}`),
		"wrong type": bulk(`{"state":5}`), "not an object": bulk(`["state","quiet"]`), "broken": bulk(quiet + "x"),
		"error": {Kind: fwp.ErrorReply, Text: []byte("ERR no")}, "error OK": {Kind: fwp.ErrorReply, Text: []byte("OK")},
		"error quiet": {Kind: fwp.ErrorReply, Text: []byte(quiet)},
		"quiet":       bulk(quiet), "simple quiet": simple(quiet), "terminate": bulk(terminate),
		"simple terminate": simple(terminate),
	}
	moves := map[string][5]fwp.State{ // from n, i, q, x, e
		"HELLO OK":              {i, i, q, x, e},
		"BEAT quiet":            {n, q, q, x, e},
		"BEAT simple quiet":     {n, q, q, x, e},
		"BEAT terminate":        {n, x, x, x, e},
		"BEAT simple terminate": {n, x, x, x, e},
	}
	for _, verb := range verbs {
		for name, r := range replies {
			want, found := moves[verb+" "+name]
			if !found {
				want = [5]fwp.State{n, i, q, x, e}
			}
			if verb == fwp.END {
				want = [5]fwp.State{e, e, e, e, e}
			}
			for at, s := range states {
				assert.Equal(t, want[at], s.Next(verb, r), "%s in state %s answered with %s", verb, s, name)
			}
		}
	}
}

func TestStateString(t *testing.T) {
	t.Parallel()
	want := []string{"not identified", "identified", "quiet", "terminating", "ended"}
	for i, s := range states {
		assert.Equal(t, want[i], s.String())
	}
	assert.Equal(t, "state 9", fwp.State(9).String())
}

func TestStateOfAReply(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"state":"quiet"}`: "quiet", `{"state":"other"}`: "other", `{"State":"quiet"}`: "", `{"state":1}`: "", "OK": "",
	} {
		assert.Equal(t, want, fwp.Reply{Kind: fwp.BulkString, Text: []byte(text)}.State(), text)
		assert.Equal(t, want, fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)}.State(), text)
		assert.Empty(t, fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(text)}.State(), text)
	}
}
