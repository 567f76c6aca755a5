package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What must be so behind a stop of the server, and what is in doubt.
func TestStop(t *testing.T) {
	t.Parallel()
	const fetchEmpty = "1 C: FETCH r\n+2s\n1 S: $-1"
	const take2 = "1 C: FETCH q\n1 S: JOB2"
	const delivery = `JOB {"enqueued_at":"2026-01-02T03:04:05Z"}`
	pushLine, _, _ := strings.Cut(pushWith(""), "\n")
	long := pushWith(`,"reserve_for":3000000`)
	short := pushWith(`,"reserve_for":60`)
	soon := pushWith(`,"at":"2026-01-02T03:04:15Z"`)
	for name, test := range map[string]struct{ talk, want string }{
		// In good order.
		"not there yet":        {join(hello, pushWith(""), "stop", fetchNothing), ""},
		"not there in the end": {join(hello, pushWith(""), "stop", "+160s", fetchNothing), "FWP-STATE-08 missing"},
		"another one came":     {join(hello, pushWith(""), pushSecond(""), "stop", take, fetchNothing), "FWP-STATE-08 missing"},
		"of another queue":     {join(hello, pushWith(""), pushSecond(`,"queue":"r"`), "stop", take, fetchEmpty), ""},
		"done, and came":       {join(hello, pushWith(""), take, ack, "stop", take), "FWP-ACK-02 delivered"},
		"held, and came":       {join(hello, pushWith(""), take, "stop", take), ""},
		"held, and came twice": {join(hello, pushWith(""), take, "stop", take, take), "FWP-STATE-05 delivered"},
		"held, and lost":       {join(hello, short, take, "stop", "+240s", fetchNothing), "FWP-STATE-08 missing"},
		"scheduled, and early": {join(hello, soon, "stop", "1 C: FETCH q\n1 S: JOB"), "FWP-WU-06 field"},
		"scheduled, and lost":  {join(hello, soon, "stop", "+180s", fetchNothing), "FWP-STATE-08 missing"},
		"refused, and came":    {join(hello, refuse(long), "stop", take), "FWP-PUSH-03 delivered"},
		// Killed: nothing is promised, but what shows that the server keeps jobs binds it.
		"killed, and lost all":      {join(hello, pushWith(""), pushSecond(""), "kill", "+400s", fetchNothing), ""},
		"killed, and lost the last": {join(hello, pushWith(""), pushSecond(""), "kill", take, fetchNothing), "FWP-STATE-08 missing"},
		"killed, done, and came":    {join(hello, pushWith(""), take, ack, "kill", take), ""},
		"killed, came twice":        {join(hello, pushWith(""), take, ack, "kill", take, take), "FWP-STATE-05 delivered"},
		"killed, done again":        {join(hello, pushWith(""), take, ack, "kill", take, ack, take), "FWP-ACK-02 delivered"},
		"killed, without a reply":   {join(hello, pushLine, "1 C: <close>", "kill", hello, fetchNothing), ""},
		"killed, and kept later":    {join(hello, pushWith(""), "kill", pushSecond(""), "stop", take2, fetchNothing), ""},
		"killed, and stopped":       {join(hello, pushWith(""), "kill", "stop", "+400s", fetchNothing), ""},
		"flushed":                   {join(hello, pushWith(""), "1 C: FLUSH\n1 S: +OK", "stop", "+400s", fetchNothing), ""},
		"flushed, and came":         {join(hello, pushWith(""), "1 C: FLUSH\n1 S: +OK", "stop", take), "FWP-FLUSH-02 delivered"},
		"killed, and schedule lost": {join(hello, soon, pushSecond(""), "kill", take2, "+180s", fetchNothing), "FWP-STATE-08 missing"},
		"killed, refused, and came": {join(hello, refuse(long), "kill", take), "FWP-PUSH-03 delivered"},
		"killed, pushed since":      {join(hello, pushWith(""), "kill", pushSecond(""), take2, fetchNothing), ""},
		"killed, lost since":        {join(hello, "kill", pushWith(""), fetchNothing), "FWP-PUSH-04 missing"},
		// It stood still.
		"late":               {join(hello, pushWith(""), "1 C: FETCH q", "+9s", "stood", "1 S: "+delivery), ""},
		"late, without that": {join(hello, pushWith(""), "1 C: FETCH q", "+9s", "1 S: "+delivery), "FWP-STATE-04 late"},
		"late, and lost":     {join(hello, pushWith(""), "1 C: FETCH q", "+9s", "stood", "1 S: $-1"), "FWP-PUSH-04 missing"},
		"early":              {join(hello, "1 C: FETCH q", "stood", "1 S: $-1"), ""},
	} {
		v := talk(t, test.talk)
		got := ""
		if v != nil {
			got = v.Clause + " " + v.Rule
		}
		assert.Equal(t, test.want, got, name)
	}
}
