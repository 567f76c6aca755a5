package law_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

func TestGreetings(t *testing.T) {
	t.Parallel()
	const salted = `+HI {"v":2,"i":3,"s":"x"}`
	for name, test := range map[string]struct {
		protected bool
		reply     string
		want      string
		hi        fwp.Hi
	}{
		"open":                       {false, `+HI {"v":2}`, "", fwp.Hi{}},
		"protected":                  {true, salted, "", fwp.Hi{Salt: "x", Iterations: 3, Protected: true}},
		"more fields":                {false, `+HI {"v":2,"mine":[1]}`, "", fwp.Hi{}},
		"a null salt on an open one": {false, `+HI {"v":2,"s":null}`, "", fwp.Hi{}},
		"a limit of connections":     {false, "-ERR too many connections", "", fwp.Hi{}},
		"a bulk string":              {false, `$HI {"v":2}`, "FWP-HI-02 greeting", fwp.Hi{}},
		"an integer":                 {false, ":1", "FWP-HI-02 greeting", fwp.Hi{}},
		"another word":               {false, `+HELLO {"v":2}`, "FWP-HI-02 greeting", fwp.Hi{}},
		"no object":                  {false, `+HI [2]`, "FWP-HI-02 greeting", fwp.Hi{}},
		"no JSON":                    {false, `+HI {"v":2`, "FWP-HI-02 greeting", fwp.Hi{}},
		"nothing":                    {false, `+HI`, "FWP-HI-02 greeting", fwp.Hi{}},
		"two spaces":                 {false, `+HI  {"v":2}`, "FWP-HI-02 greeting", fwp.Hi{}},
		"a space behind":             {false, `+HI {"v":2} `, "FWP-HI-02 greeting", fwp.Hi{}},
		"another version":            {false, `+HI {"v":3}`, "FWP-HI-03 greeting", fwp.Hi{}},
		"no version":                 {false, `+HI {}`, "FWP-HI-03 greeting", fwp.Hi{}},
		"a version in quotes":        {false, `+HI {"v":"2"}`, "FWP-HI-03 greeting", fwp.Hi{}},
		"a version with a fraction":  {false, `+HI {"v":2.0}`, "FWP-HI-03 greeting", fwp.Hi{}},
		"rounds in quotes":           {true, `+HI {"v":2,"i":"3","s":"x"}`, "FWP-HI-05 greeting", fwp.Hi{Salt: "x"}},
		"no rounds at all": {
			true, `+HI {"v":2,"i":0,"s":"x"}`, "FWP-HI-05 greeting",
			fwp.Hi{Salt: "x", Protected: true},
		},
		"a salt that is a number":   {true, `+HI {"v":2,"i":3,"s":5}`, "FWP-HI-05 greeting", fwp.Hi{Iterations: 3}},
		"null rounds":               {false, `+HI {"v":2,"i":null}`, "FWP-HI-05 greeting", fwp.Hi{}},
		"protected, neither":        {true, `+HI {"v":2}`, "FWP-HI-04 greeting", fwp.Hi{}},
		"protected, without rounds": {true, `+HI {"v":2,"s":"x"}`, "FWP-HI-04 greeting", fwp.Hi{Salt: "x"}},
		"protected, without salt":   {true, `+HI {"v":2,"i":3}`, "FWP-HI-04 greeting", fwp.Hi{Iterations: 3}},
		"open, with both": {
			false,
			salted,
			"FWP-HI-04 greeting",
			fwp.Hi{Salt: "x", Iterations: 3, Protected: true},
		},
		"open, with rounds": {false, `+HI {"v":2,"i":3}`, "FWP-HI-04 greeting", fwp.Hi{Iterations: 3}},
		"open, with a salt": {false, `+HI {"v":2,"s":"x"}`, "FWP-HI-04 greeting", fwp.Hi{Salt: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fwplaw.NewWorld()
			w.Protected = test.protected
			w.Open(1)
			assert.False(t, w.Conns[1].IsGreeted)
			v := w.Greet(1, reply(test.reply))
			assert.Equal(t, test.want, summary(v))
			assert.Equal(t, test.hi, w.Conns[1].Hi)
			assert.True(t, w.Conns[1].IsGreeted)
			if v != nil {
				assert.Equal(t, test.reply[:1], v.Got[:1])
			}
		})
	}
}

func TestRepeatedSalt(t *testing.T) {
	t.Parallel()
	w := fwplaw.NewWorld()
	w.Protected = true
	const repeatedSalt = "FWP-AUTH-05 salt"
	for conn, test := range []struct{ salt, want string }{{"x", ""}, {"y", ""}, {"x", repeatedSalt}, {"z", ""}, {"y", repeatedSalt}} {
		w.Open(conn)
		assert.Equal(t, test.want, summary(w.Greet(conn, reply(`+HI {"v":2,"i":3,"s":"`+test.salt+`"}`))))
	}
}
