package law_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// TestJobsOfAnotherPlay: what a play says of a job that another play on the same server has pushed.
func TestJobsOfAnotherPlay(t *testing.T) {
	t.Parallel()
	const fetched = "\n" + `1 S: ${"jid":"jid-0000000000000001","jobtype":"t","args":[],"queue":"q"}`
	for name, test := range map[string]struct{ first, second, want string }{
		"of another queue":   {join(hello, pushWith("")), "1 C: FETCH mine" + fetched, "FWP-FETCH-04 queue"},
		"without a queue":    {join(hello, pushWith("")), "1 C: FETCH" + fetched, "FWP-FETCH-08 queue"},
		"of default as well": {join(hello, pushWith("")), "1 C: FETCH default" + fetched, "FWP-FETCH-04 queue"},
		"of its own queue":   {join(hello, pushWith("")), "1 C: FETCH q" + fetched, ""},
		"acknowledged":       {join(hello, pushWith(""), take, ack), "1 C: FETCH q" + fetched, "FWP-ACK-02 delivered"},
		"failed":             {join(hello, pushWith(""), take, fail), "1 C: FETCH q" + fetched, ""},
		"before a FLUSH": {
			join(hello, pushWith(""), "1 C: FLUSH", "1 S: +OK"), "1 C: FETCH q" + fetched, "FWP-FLUSH-02 delivered",
		},
		"before one refused":              {join(hello, pushWith(""), "1 C: FLUSH", "1 S: -ERR"), "1 C: FETCH q" + fetched, ""},
		"of no play":                      {hello, "1 C: FETCH mine" + fetched, "FWP-FETCH-01 unknown"},
		"of no play, default":             {hello, "1 C: FETCH default" + fetched, ""},
		"of a malformed queue, elsewhere": {join(hello, pushWith(`,"queue":"a b"`)), "1 C: FETCH mine" + fetched, ""},
		"of a malformed queue":            {join(hello, pushWith(`,"queue":"a b"`)), "1 C: FETCH default" + fetched, ""},
	} {
		server := law.NewHistory()
		for i, text := range []string{test.first, join(hello, test.second)} {
			c := newConversation(t)
			c.w.Server = server
			got := ""
			c.play(text, func(_ transcript.Event, v *law.Violation) {
				if v != nil {
					got = v.Clause + " " + v.Rule
				}
			})
			if i == 1 {
				assert.Equal(t, test.want, got, name)
			}
		}
	}
}

// TestSaltsOfAnotherPlay: a long salt must not come again on the same server; a short one may by chance.
func TestSaltsOfAnotherPlay(t *testing.T) {
	t.Parallel()
	for salt, isRepeated := range map[string]bool{"0123456789ab": true, "0123456789a": false} {
		server := law.NewHistory()
		for i := range 2 {
			w := fwplaw.NewWorld()
			w.Protected, w.Server = true, server
			w.Open(1)
			v := w.Greet(1, fwp.Reply{Kind: fwp.SimpleString, Text: []byte(`HI {"v":2,"i":3,"s":"` + salt + `"}`)})
			assert.Equal(t, isRepeated && i == 1, v != nil && v.Clause == "FWP-AUTH-05", salt)
		}
	}
}
