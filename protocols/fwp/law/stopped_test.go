package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What must be so behind a stop of the server, and what is in doubt.
func TestAfterAStop(t *testing.T) {
	t.Parallel()
	const empty = "1 C: FETCH r\n+2s\n1 S: $-1"
	const take2 = "1 C: FETCH q\n1 S: JOB2"
	const then = `JOB {"enqueued_at":"2026-01-02T03:04:05Z"}`
	asked, _, _ := strings.Cut(with(""), "\n")
	long := with(`,"reserve_for":3000000`)
	short := with(`,"reserve_for":60`)
	soon := with(`,"at":"2026-01-02T03:04:15Z"`)
	for name, test := range map[string]struct{ talk, want string }{
		// In good order.
		"not there yet":        {all(hello, with(""), "stop", none), ""},
		"not there in the end": {all(hello, with(""), "stop", "+160s", none), "FWP-STATE-08 missing"},
		"another one came":     {all(hello, with(""), second(""), "stop", take, none), "FWP-STATE-08 missing"},
		"of another queue":     {all(hello, with(""), second(`,"queue":"r"`), "stop", take, empty), ""},
		"done, and came":       {all(hello, with(""), take, ack, "stop", take), "FWP-ACK-02 delivered"},
		"held, and came":       {all(hello, with(""), take, "stop", take), ""},
		"held, and came twice": {all(hello, with(""), take, "stop", take, take), "FWP-STATE-05 delivered"},
		"held, and lost":       {all(hello, short, take, "stop", "+240s", none), "FWP-STATE-08 missing"},
		"scheduled, and early": {all(hello, soon, "stop", "1 C: FETCH q\n1 S: JOB"), "FWP-WU-06 field"},
		"scheduled, and lost":  {all(hello, soon, "stop", "+180s", none), "FWP-STATE-08 missing"},
		"refused, and came":    {all(hello, refused(long), "stop", take), "FWP-PUSH-03 delivered"},
		// Killed: nothing is promised, but what shows that the server keeps jobs binds it.
		"killed, and lost all":      {all(hello, with(""), second(""), "kill", "+400s", none), ""},
		"killed, and lost the last": {all(hello, with(""), second(""), "kill", take, none), "FWP-STATE-08 missing"},
		"killed, done, and came":    {all(hello, with(""), take, ack, "kill", take), ""},
		"killed, came twice":        {all(hello, with(""), take, ack, "kill", take, take), "FWP-STATE-05 delivered"},
		"killed, done again":        {all(hello, with(""), take, ack, "kill", take, ack, take), "FWP-ACK-02 delivered"},
		"killed, without a reply":   {all(hello, asked, "1 C: <close>", "kill", hello, none), ""},
		"killed, and kept later":    {all(hello, with(""), "kill", second(""), "stop", take2, none), ""},
		"killed, and stopped":       {all(hello, with(""), "kill", "stop", "+400s", none), ""},
		"flushed":                   {all(hello, with(""), "1 C: FLUSH\n1 S: +OK", "stop", "+400s", none), ""},
		"flushed, and came":         {all(hello, with(""), "1 C: FLUSH\n1 S: +OK", "stop", take), "FWP-FLUSH-02 delivered"},
		"killed, and schedule lost": {all(hello, soon, second(""), "kill", take2, "+180s", none), "FWP-STATE-08 missing"},
		"killed, refused, and came": {all(hello, refused(long), "kill", take), "FWP-PUSH-03 delivered"},
		"killed, pushed since":      {all(hello, with(""), "kill", second(""), take2, none), ""},
		"killed, lost since":        {all(hello, "kill", with(""), none), "FWP-PUSH-04 missing"},
		// It stood still.
		"late":               {all(hello, with(""), "1 C: FETCH q", "+9s", "stood", "1 S: "+then), ""},
		"late, without that": {all(hello, with(""), "1 C: FETCH q", "+9s", "1 S: "+then), "FWP-STATE-04 late"},
		"late, and lost":     {all(hello, with(""), "1 C: FETCH q", "+9s", "stood", "1 S: $-1"), "FWP-PUSH-04 missing"},
		"early":              {all(hello, "1 C: FETCH q", "stood", "1 S: $-1"), ""},
	} {
		v := talk(t, test.talk)
		got := ""
		if v != nil {
			got = v.Clause + " " + v.Rule
		}
		assert.Equal(t, test.want, got, name)
	}
}
