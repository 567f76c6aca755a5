package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// message is a reply as a transcript writes it.
func message(text string) session.Message {
	if text == "$-1" {
		return session.Message{Kind: byte(fwp.NullBulk)}
	}
	return session.Message{Kind: text[0], Text: []byte(text[1:])}
}

const wholeJob = `"jid":"0123456789abcdef","jobtype":"t","args":[]`

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{
		{"INFO", ""},
		{"INFO ", "command syntax"},
		{`HELLO {"v":2}`, "HELLO must be the first command of a connection, and the only HELLO"},
		{"PUSH {" + wholeJob + "}", ""},
		{"PUSH []", "command syntax"},
		{"PUSH {" + wholeJob + `,"queue":""}`, "a queue name must be one word"},
		{"PUSH {" + wholeJob + `,"queue":"a b"}`, "a queue name must be one word"},
		{"PUSH {" + wholeJob + `,"reserve_for":59}`, "reserve_for must be at least 60"},
		{"PUSH {" + wholeJob + `,"reserve_for":60.0}`, ""},
		{"PUSH {" + wholeJob + `,"reserve_for":60.5}`, `the field "reserve_for" must be of type int`},
		{"PUSH {" + wholeJob + `,"retry":null}`, ""},
		{"PUSH {" + wholeJob + `,"at":""}`, ""},
		{"PUSH {" + wholeJob + `,"created_at":""}`, `the field "created_at" must be of type time`},
		{"PUSH {" + wholeJob + `,"failure":{}}`, `the field "failure" is read-only`},
		{`PUSH {"jid":"0123456789abcdef","jobtype":"t"}`, `the field "args" is missing`},
		{`ACK {"jid":"0123456789abcdef"}`, ""},
		{`ACK {"jid":"0123456789abcdef","a":1}`, "ACK must have the single field jid"},
		{`ACK {"jid":null}`, `the field "jid" must be of type string`},
		{`FAIL {"jid":"0123456789abcdef","errtype":"e","message":"m","backtrace":[1]}`,
			`the field "backtrace" must be of type strings`},
		{`BEAT {"wid":"w","current_state":"quiet"}`, ""},
		{`BEAT {"wid":"w","current_state":"asleep"}`, `current_state must be "quiet" or "terminate"`},
		{"NOSUCH", "command syntax"},
	}
	for _, test := range tests {
		bug, _ := fwpscript.Dialect{}.Check(scenarios.Consumer, fwpscript.Dialect{}.Sample(true), []byte(test.line))
		if test.want == "" {
			assert.Empty(t, bug, test.line)
		} else {
			assert.Contains(t, bug, test.want, test.line)
		}
	}
}

func TestCheckOfAHello(t *testing.T) {
	t.Parallel()
	const worker = `"hostname":"h","wid":"w","pid":1,"labels":[]`
	for fields, want := range map[string]string{
		`"v":2`:                           "",
		`"v":3`:                           "v must be 2",
		`"v":2.0`:                         "v must be 2",
		worker:                            `the field "v" is missing`,
		`"v":2,` + worker:                 "",
		`"v":2,"wid":"w"`:                 `the field "hostname" is missing`,
		`"v":2,"pid":null,"wid":"w"`:      `the field "hostname" is missing`,
		`"v":2,"pwdhash":1`:               `the field "pwdhash" must be of type string`,
		`"v":2,` + worker + `,"labels":1`: `the field "labels" must be of type strings`,
	} {
		bug, _ := fwpscript.Dialect{}.Check(scenarios.Raw, fwpscript.Dialect{}.Sample(false),
			[]byte("HELLO {"+fields+"}"))
		assert.Equal(t, want, bug, fields)
	}
	bug, _ := fwpscript.Dialect{}.Check(scenarios.Raw, fwpscript.Dialect{}.Sample(false), []byte("INFO"))
	assert.Equal(t, "INFO must not be sent while the connection is not identified", bug)
	bug, _ = fwpscript.Dialect{}.Check(scenarios.Producer, fwpscript.Dialect{}.Sample(true),
		[]byte(`BEAT {"wid":"w"}`))
	assert.Equal(t, "only consumers may send BEAT", bug)
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"FETCH a b-1":             0,
		"FETCH A. b:1":            2,
		"PUSH {" + wholeJob + "}": 0,
		`ACK {"jid":"short"}`:     1,
		`ACK {"jid":"öööööööööööööööö"}`:                                                     0,
		"PUSH {" + strings.Replace(wholeJob, "0123456789abcdef", "x", 1) + `,"queue":"A.b"}`: 2,
	} {
		bug, advice := fwpscript.Dialect{}.Check(scenarios.Consumer, fwpscript.Dialect{}.Sample(true), []byte(line))
		assert.Empty(t, bug)
		assert.Len(t, advice, want, line)
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	replies := []string{"+OK", "-ERR", "$-1", "${}", "$x", "+{}", ":1", `+HI {"v":2}`}
	for command, legalReplies := range map[string]string{
		"":            `-ERR +HI {"v":2}`,
		"PUSH {}\r\n": "+OK -ERR",
		"HELLO {}":    "+OK -ERR",
		"END":         "+OK -ERR",
		"INFO\r\n":    "-ERR ${} $x",
		"FETCH q":     "-ERR $-1 ${}",
		"BEAT {}":     "+OK -ERR ${} +{}",
		"NOSUCH":      "+OK -ERR $-1 ${} $x +{} :1 " + `+HI {"v":2}`,
	} {
		var got []string
		for _, r := range replies {
			if !(fwpscript.Dialect{}).IsImpossible([]byte(command), message(r)) {
				got = append(got, r)
			}
		}
		assert.Equal(t, legalReplies, strings.Join(got, " "), command)
	}
}

func TestHelloAndQuestion(t *testing.T) {
	t.Parallel()
	d := fwpscript.Dialect{}
	_, fresh := d.Begin(nil)
	hello, ok := d.Hello(scenarios.Producer, fresh)
	assert.False(t, ok, "no HI has come")
	assert.Equal(t, "HELLO", hello.Words)
	names := func(role scenarios.Role, s session.State) (all string) {
		h, ok := d.Hello(role, s)
		assert.True(t, ok)
		for _, f := range h.Fields {
			all += f.Name + " "
		}
		return fmt.Sprint(all, h.Locked)
	}
	locked := d.Sample(false)
	assert.Equal(t, "pwdhash v true", names(scenarios.Producer, locked))
	assert.Equal(t, "hostname wid pid labels pwdhash v true", names(scenarios.Consumer, locked))
	fresh.Received(message(`+HI {"v":2}`))
	assert.Equal(t, "v false", names(scenarios.Producer, fresh))

	fresh.Sent([]byte("HELLO {\"wid\":\"w\\\"1\"}\r\n"))
	assert.Equal(t, "INFO", d.Probe(scenarios.Producer, fresh))
	assert.Equal(t, `BEAT {"wid":"w\"1"}`, d.Probe(scenarios.Consumer, fresh))
	assert.Equal(t, "INFO", d.Probe(scenarios.Consumer, locked), "it has not said who it is")
}

func TestPasswordHashes(t *testing.T) {
	t.Parallel()
	i := 0
	computed := fwpscript.Dialect{}.Grammar().Names.Computed
	for computed[i].Name != "pwdhash" {
		i++
	}
	hash := func(rounds int, variant string) string {
		_, s := fwpscript.Dialect{}.Begin(nil)
		s.Received(message(fmt.Sprintf(`+HI {"v":2,"s":"salt","i":%d}`, rounds)))
		h, err := computed[i].Value(s, "secret", variant)
		require.NoError(t, err)
		return h
	}
	right := func(rounds int) string {
		h, err := fwp.PasswordHash("secret", "salt", rounds)
		require.NoError(t, err)
		return h
	}
	assert.Equal(t, right(3), hash(3, ""))
	assert.Equal(t, right(2), hash(3, "fewer"))
	assert.Equal(t, right(4), hash(3, "more"))
	all := map[string]bool{right(1): true, right(2): true, right(3): true}
	for _, wrong := range []string{hash(3, "wrong"), hash(3, "hex"), hash(1, "hex"), hash(1, "fewer"), hash(1, "wrong")} {
		assert.False(t, all[wrong], "each is wrong in another way")
		all[wrong] = true
	}
	for _, variant := range computed[i].Variants {
		if variant != "hex" {
			assert.NotEqual(t, right(3), hash(3, variant), variant)
			continue
		}
		assert.NotEqual(t, right(1), hash(1, variant), variant)
	}
	assert.Equal(t, right(3), strings.ToLower(hash(3, "upper")))
	assert.Equal(t, right(3), hash(3, "long")[:64])
	assert.Equal(t, right(3)[:63], hash(3, "cut"))
	assert.Equal(t, right(3)[:63], hash(3, "last")[:63])
	assert.Equal(t, right(3)[1:], hash(3, "first")[1:])

	_, state := fwpscript.Dialect{}.Begin(nil)
	_, err := computed[i].Value(state, "secret", "")
	require.ErrorContains(t, err, "asks for no password")
}

func TestSample(t *testing.T) {
	t.Parallel()
	assert.Equal(t, session.Greeting, fwpscript.Dialect{}.Sample(false).Status().Phase)
	s := fwpscript.Dialect{}.Sample(true)
	assert.Equal(t, session.Serving, s.Status().Phase)
	assert.True(t, s.(*fwpsession.State).Hi().Protected)
}
