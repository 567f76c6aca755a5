package fwp_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func TestParseHi(t *testing.T) {
	t.Parallel()
	cases := map[string]fwp.Hi{
		`HI {"v":2}`:                              {Version: 2},
		`HI {"v":2,"s":"123456789abc","i":1735}`:  {Version: 2, Iterations: 1735, Salt: "123456789abc", Protected: true},
		`HI { "i" : 1 , "s" : "" , "v" : 2 }`:     {Version: 2, Iterations: 1, Protected: true},
		`HI {"v":3,"x":[],"V":"","I":1,"S":null}`: {Version: 3},
		`HI {"v":2,"i":-5,"s":"\u00e9"}`:          {Version: 2, Iterations: -5, Salt: "\u00e9", Protected: true},
		`HI {"v":-1,"nested":{"v":"x","i":1}}`:    {Version: -1},
		`HI {"v":2147483647}`:                     {Version: 2147483647},
	}
	for text, want := range cases {
		hi, err := fwp.ParseHi(simple(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, hi, text)
	}
}

const hiStart = `expected a simple string that starts with "HI ", got `

var brokenHis = []struct {
	reply fwp.Reply
	want  string
}{
	{simple("OK"), hiStart + `a simple string "OK"`},
	{simple(""), hiStart + `a simple string without text`},
	{simple("HI"), hiStart + `a simple string "HI"`},
	{simple(`hi {"v":2}`), hiStart + `a simple string "hi {\"v\":2}"`},
	{simple("HI\t{\"v\":2}"), hiStart + `a simple string "HI\t{\"v\":2}"`},
	{bulk(`HI {"v":2}`), hiStart + `a bulk string "HI {\"v\":2}"`},
	{integer(2), hiStart + "an integer without text"},
	{simple("HI "), `expected one JSON object after "HI ", got nothing`},
	{simple(`HI  {"v":2}`), `expected one JSON object after "HI ", got " {\"v\":2}"`},
	{simple(`HI {"v":2} `), `expected one JSON object after "HI ", got "{\"v\":2} "`},
	{simple(`HI [2]`), `expected one JSON object after "HI ", got "[2]"`},
	{simple(`HI {"v":2}{}`), `expected a JSON object, got "{\"v\":2}{}"`},
	{simple(`HI {"v":2,}`), `expected a JSON object, got "{\"v\":2,}"`},
	{simple(`HI {}`), "v is missing"},
	{simple(`HI {"V":2}`), "v is missing"},
	{simple(`HI {"v":"2"}`), `v: expected a 64-bit integer, got "\"2\""`},
	{simple(`HI {"v":null}`), `v: expected a 64-bit integer, got "null"`},
	{simple(`HI {"v":2.0}`), `v: expected a 64-bit integer, got "2.0"`},
	{simple(`HI {"v":2,"v":2}`), `key "v" occurs twice`},
	{simple(`HI {"v":2,"i":1}`), "i and s come together, only one is there"},
	{simple(`HI {"v":2,"s":"x"}`), "i and s come together, only one is there"},
	{simple(`HI {"v":2,"s":"x","i":"1"}`), `i: expected a 64-bit integer, got "\"1\""`},
	{simple(`HI {"v":2,"s":"x","i":99999999999999999999}`), `i: expected a 64-bit integer, got "99999999999999999999"`},
	{simple(`HI {"v":2,"s":5,"i":1}`), `s: expected a string, got "5"`},
	{simple(`HI {"v":2,"s":null,"i":null}`), `i: expected a 64-bit integer, got "null"`},
}

func TestParseHiRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range brokenHis {
		hi, err := fwp.ParseHi(c.reply)
		require.EqualError(t, err, "greeting: "+c.want)
		assert.Zero(t, hi)
	}
	_, err := fwp.ParseHi(fwp.Reply{Kind: fwp.ErrorReply, Text: []byte("ERR full")})
	var no *fwp.ReplyError
	require.ErrorAs(t, err, &no)
	assert.Equal(t, "ERR full", no.Text)
}

func TestHelloCommand(t *testing.T) {
	t.Parallel()
	cases := []struct {
		hello fwp.Hello
		want  string
	}{
		{fwp.Hello{}, `HELLO {"v":2}`},
		{fwp.Hello{Version: 3}, `HELLO {"v":3}`},
		{fwp.Hello{Hostname: "h", PID: 5, Labels: []string{"x"}}, `HELLO {"v":2}`},
		{fwp.Hello{PasswordHash: "1e440e"}, `HELLO {"pwdhash":"1e440e","v":2}`},
		{fwp.Hello{Hostname: "localhost", WorkerID: "4qpc2443vpvai", PID: 2676, Labels: []string{"golang"}},
			`HELLO {"hostname":"localhost","wid":"4qpc2443vpvai","pid":2676,"labels":["golang"],"v":2}`},
		{fwp.Hello{WorkerID: "<w>", PasswordHash: "ab"},
			`HELLO {"hostname":"","wid":"<w>","pid":0,"labels":[],"pwdhash":"ab","v":2}`},
		{fwp.Hello{WorkerID: "a\r\nb\xff"}, `HELLO {"hostname":"","wid":"a\r\nb\ufffd","pid":0,"labels":[],"v":2}`},
	}
	for _, c := range cases {
		line := strings.TrimSuffix(string(fwp.AppendCommand(nil, c.hello.Command())), "\r\n")
		assert.Equal(t, c.want, line)
		_, err := fwp.ParseCommand([]byte(line))
		assert.NoError(t, err)
	}
}

func TestPasswordHash(t *testing.T) {
	t.Parallel()
	cases := []struct {
		password, salt string
		iterations     int
		want           string
	}{
		{"foobar", "55104dc76695721d", 1545, "6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"},
		{"", "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"", "", 2, "5df6e0e2761359d30a8275058e299fcc0381534545f55cf43e41983f5d4c9456"},
		{"a", "bc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	}
	for _, c := range cases {
		got, err := fwp.PasswordHash(c.password, c.salt, c.iterations)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

// What is refused is refused before any hashing, which would never end.
func TestPasswordHashBounds(t *testing.T) {
	t.Parallel()
	for _, iterations := range []int{0, -1, math.MinInt, fwp.MaxIterations + 1, math.MaxInt} {
		got, err := fwp.PasswordHash("foobar", "salt", iterations)
		require.ErrorContains(t, err, "outside 1 to 1048576")
		assert.Empty(t, got)
	}
	_, err := fwp.PasswordHash("foobar", "salt", fwp.MaxIterations)
	assert.NoError(t, err)
}
