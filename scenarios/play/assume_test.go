package play_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/session"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestADepartureIsAssumed: behind which replies that no line expects a play goes on, and what it says of the next ones.
func TestADepartureIsAssumed(t *testing.T) {
	t.Parallel()
	const (
		fetch = "C: FETCH q\nS: ${\"jobtype\":\"a\",\"retry\":1}\n"
		ok    = "+OK\r\n"
		ack   = "C: ACK {\"jid\":\"x\"}\nS: +OK\n"
	)
	right := job(`{"jid":"x","jobtype":"a","queue":"q","retry":1}`)
	retry := job(`{"jid":"x","jobtype":"a","queue":"q","retry":2}`)
	other := job(`{"jid":"x","jobtype":"b","queue":"q","retry":2}`)
	typed := job(`{"jid":"x","jobtype":"a","queue":"q","retry":"1"}`)
	const (
		eventually = "eventually ..1s\n  C: FETCH q\n  S: ${\"retry\":1}\nend\n"
		blockOf    = "eventually ..1s\n  C: FETCH q\n  S: ${\"jobtype\":\"a\"}\nend\n"
		table      = "table\n  C: FETCH q\n  S: ${\"retry\":1}\n  C: FETCH q\n  S: ${}\nend\n"
		named      = "C: FETCH q\nS: ${\"jid\":\"$jid\",\"retry\":1}\nC: ACK {\"jid\":\"$jid\"}\nS: +OK\n"
		unnamed    = "C: FETCH q\nS: ${\"at\":\"$at\",\"retry\":1}\n"
		pushed     = "C: PUSH {\"jid\":\"$jid1\"}\nS: +OK\nC: PUSH {\"jid\":\"$jid2\"}\nS: +OK\n"
		ofFirst    = "C: FETCH q\nS: ${\"jid\":\"$jid1\"}\n"
		ofText     = "C: FETCH q\nS: ${\"jid\":\"$jid1-é\"}\n"
		refused    = "C bad: FETCH q\nS: -\n"
		fetchOther = "C: FETCH q\nS: ${\"retry\":1}\n"
	)
	second := job(`{"jid":"fwp-test-0001-jid2-3","queue":"q"}`)
	for name, test := range map[string]struct {
		script string
		jids   []string // by the FETCHes
		ack    string
		want   string
	}{
		"a value":              {fetch + ack, []string{retry}, ok, "3 assumed mismatched, 5 matched"},
		"it again":             {fetch + fetch, []string{retry, retry}, "", "3 assumed mismatched, 5 assumed unsure"},
		"it and another":       {fetch + fetch, []string{retry, other}, "", "3 assumed mismatched, 5 assumed mismatched"},
		"one of two":           {fetch + fetchOther, []string{other, other}, "", "3 assumed mismatched, 5 assumed unsure"},
		"it with another type": {fetch + fetch, []string{retry, typed}, "", "3 assumed mismatched, 5 assumed mismatched"},
		"contradicted": {fetch + fetch + fetch, []string{retry, right, retry}, "",
			"3 assumed mismatched, 5 matched, 7 assumed mismatched"},
		"another reply":         {fetch + ack, []string{"$-1\r\n"}, ok, "3 mismatched, 5 not reached"},
		"a refusal":             {fetch + ack, []string{"-ERR no\r\n"}, ok, "3 mismatched, 5 not reached"},
		"what may follow":       {fetch + ack, []string{retry}, "-ERR\r\n", "3 assumed mismatched, 5 unsure"},
		"a refusal that is due": {refused + ack, []string{right}, ok, "3 mismatched, 5 not reached"},
		"a name gets its value": {named, []string{retry}, ok, "3 assumed mismatched, 5 matched"},
		"no value for a name":   {unnamed + ack, []string{retry}, ok, "3 mismatched, 5 not reached"},
		"another name": {pushed + ofFirst + ack, []string{retry}, ok,
			"3 matched, 5 matched, 7 assumed mismatched, 9 matched"},
		"a refusal behind another name": {pushed + ofFirst + ack, []string{retry}, "-ERR\r\n",
			"3 matched, 5 matched, 7 assumed mismatched, 9 mismatched"},
		"a refusal behind an altered text": {pushed + ofText + ack, []string{retry}, "-ERR\r\n",
			"3 matched, 5 matched, 7 assumed mismatched, 9 unsure"},
		"another's name":   {pushed + ofFirst, []string{second}, ok, "3 matched, 5 matched, 7 mismatched"},
		"a row of a table": {table, []string{retry, "$-1\r\n"}, "", "4 assumed mismatched, 6 mismatched"},
		"a block behind it": {fetch + eventually + ack, []string{retry, "$-1\r\n", right}, ok,
			"3 assumed mismatched, 4 matched, 6 matched, 9 matched"},
		"such a block in vain": {fetch + eventually + ack, []string{retry}, ok,
			"3 assumed mismatched, 6 unsure, 9 not reached"},
		"its own value in vain": {fetch + blockOf + ack, []string{retry, "$-1\r\n", other}, ok,
			"3 assumed mismatched, 6 mismatched, 9 not reached"},
		"the value again": {fetch + eventually + ack, []string{retry, "$-1\r\n", retry}, ok,
			"3 assumed mismatched, 6 unsure, 9 not reached"},
		"an eventually block": {eventually + ack, []string{retry, retry}, ok, "4 mismatched, 7 not reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &peer{answers: map[string]string{"ACK": test.ack, "FETCH": "$-1\r\n"}, next: test.jids}
			playScript(t, server, consumer+"clause FWP-WU-03\n"+test.script, func(t *testing.T, r *play.Run) {
				var got []string
				for _, res := range r.Results {
					assumed := ""
					if res.IsAssumed {
						assumed = "assumed "
					}
					got = append(got, fmt.Sprintf("%d %s%s", res.Line-1, assumed, res.Outcome))
				}
				assert.Equal(t, test.want, strings.Join(got, ", "))
				assert.False(t, r.Passed())
			})
		})
	}
}

// mendingDialect is a dialect in which a job is about its jobtype, which is always a.
type mendingDialect struct{ fwpscript.Dialect }

func (mendingDialect) Mend(_ []byte, m session.Message) (mended session.Message, was string) {
	_, rest, found := bytes.Cut(m.Text, []byte(`"jobtype":"`))
	if was, _, _ = strings.Cut(string(rest), `"`); !found || was == "a" {
		return m, ""
	}
	m.Text = bytes.Replace(m.Text, []byte(was), []byte("a"), 1)
	return m, was
}

// TestAReplyAboutAnotherThingIsMended: it is one breach however often it comes, and no pass.
func TestAReplyAboutAnotherThingIsMended(t *testing.T) {
	t.Parallel()
	const (
		push  = "C: PUSH {\"jid\":\"$jid1\"}\nS: +OK\n"
		fetch = "C: FETCH q\nS: ${\"jobtype\":\"a\",\"retry\":1}\n"
	)
	other := job(`{"jobtype":"z","queue":"q","retry":1}`)
	retry := job(`{"jobtype":"z","queue":"q","retry":2}`)
	mixed := job(`{"jobtype":"fwp-test-0001-jid1-2","queue":"q","retry":1}`)
	for name, test := range map[string]struct {
		replies  []string
		want     string
		breaches int
	}{
		"another":              {[]string{other, other}, "assumed matched, assumed matched", 1},
		"and another value":    {[]string{other, retry}, "assumed matched, assumed mismatched", 1},
		"something of the run": {[]string{mixed, other}, "mismatched, not reached", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &peer{answers: map[string]string{"PUSH": "+OK\r\n", "FETCH": "$-1\r\n"}, next: test.replies}
			script := consumer + push + "clause FWP-WU-03\n" + fetch + fetch
			playIn(t, mendingDialect{}, server, script, func(t *testing.T, r *play.Run) {
				var got []string
				for _, res := range r.Results[len(r.Results)-2:] {
					assumed := ""
					if res.IsAssumed {
						assumed = "assumed "
					}
					got = append(got, fmt.Sprint(assumed, res.Outcome))
				}
				assert.Equal(t, test.want, strings.Join(got, ", "))
				assert.Len(t, r.Breaches, test.breaches)
			})
		})
	}
}

// job returns a work unit as the reply to a FETCH.
func job(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }
