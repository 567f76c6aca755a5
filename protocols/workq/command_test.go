package workq_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/workq"
)

const id = "6ba7b810-9dad-11d1-80b4-00c04fd430c4"

// TestExamplesOfCommands reads the examples of the document.
func TestExamplesOfCommands(t *testing.T) {
	t.Parallel()
	ping, pong := []string{"ping"}, []byte("pong")
	for text, want := range map[string]workq.Command{
		"add " + id + " ping 1000 60000 4 -priority=10 -max-attempts=3 -max-fails=1\r\npong\r\n": {
			ID: id, Names: ping, TTR: 1000, TTL: 60000, Priority: 10, MaxAttempts: 3, MaxFails: 1, Block: pong,
		},
		"schedule " + id + " ping 1000 2000 2016-06-14T06:46:46Z 4\r\npong\r\n": {
			ID: id, Names: ping, TTR: 1000, TTL: 2000, Time: "2016-06-14T06:46:46Z", Block: pong,
		},
		"run " + id + " ping 1000 60000 4\r\npong\r\n": {ID: id, Names: ping, TTR: 1000, Wait: 60000, Block: pong},
		"result " + id + " 60000\r\n":                  {ID: id, Wait: 60000},
		"lease ping1 ping2 ping3 60000\r\n":            {Names: []string{"ping1", "ping2", "ping3"}, Wait: 60000},
		"complete " + id + " 4\r\npong\r\n":            {ID: id, Block: pong},
		"delete " + id + "\r\n":                        {ID: id},
		"inspect job " + id + "\r\n":                   {ID: id},
		"inspect jobs ping 0 10\r\n":                   {Names: ping, Limit: 10},
		"inspect scheduled-jobs ping 5 10\r\n":         {Names: ping, Offset: 5, Limit: 10},
		"inspect queue ping\r\n":                       {Names: ping},
		"inspect queues 0 10\r\n":                      {Limit: 10},
		"inspect server\r\n":                           {},
		"fail " + id + " 0\r\n\r\n":                    {ID: id, Block: []byte{}},
		"add " + id + " a.b-c_D 0 18446744073709551615 6 -priority=-2147483648\r\n\x00\r\n\xffx\n\r\n": {
			ID: id, Names: []string{"a.b-c_D"}, TTL: math.MaxUint64, Priority: math.MinInt32, Block: []byte("\x00\r\n\xffx\n"),
		},
	} {
		for cut := range len(text) {
			_, _, err := workq.ParseCommand([]byte(text[:cut]))
			require.ErrorIs(t, err, workq.ErrShort, text[:cut])
		}
		c, n, err := workq.ParseCommand([]byte(text + "next"))
		require.NoError(t, err, text)
		assert.Equal(t, len(text), n, text)
		assert.True(t, strings.HasPrefix(text, c.Verb+" ") || text == c.Verb+"\r\n", c.Verb)
		c.Verb = ""
		assert.Equal(t, want, c, text)
	}
}

func TestMalformedCommands(t *testing.T) {
	t.Parallel()
	add := "add " + id + " ping 1000 60000 4"
	for text, want := range map[string]struct {
		reason string
		rest   string // behind what it takes
		isLost bool   // where the next command begins is not known
	}{
		"add\r\nx":                                        {"add has 5 arguments, and not 0", "x", false},
		"nonsense\r\nx":                                   {`"nonsense" is not a command`, "x", false},
		"ADD\r\nx":                                        {`"ADD" is not a command`, "x", false},
		"inspect\r\nx":                                    {`"inspect" is not a command`, "x", false},
		"inspect x\r\nx":                                  {`"inspect x" is not a command`, "x", false},
		"result " + id + " 1\nx":                          {"the line does not end with CRLF", "x", false},
		"result  " + id + " 1\r\nx":                       {"result has 2 arguments, and not 3", "x", false},
		"result 123 1\r\nx":                               {`"123" is not a valid id`, "x", false},
		"result " + id + " -1\r\nx":                       {`"-1" is not a valid wait-timeout`, "x", false},
		"lease 1\r\nx":                                    {"lease has 2 arguments, and not 1", "x", false},
		"lease a b! 1\r\nx":                               {`"b!" is not a valid name`, "x", false},
		add + "\r\npong!\r\nx":                            {"the block does not end with CRLF where its size says", "", true},
		add + "\r\npong\rx":                               {"the block does not end with CRLF where its size says", "", true},
		add + " -priority=x\r\npong\r\nx":                 {`"x" is not a valid value of -priority`, "x", false},
		add + " -priority=2147483648\r\npong\r\nx":        {`"2147483648" is not a valid value of -priority`, "x", false},
		add + " -priority=1 -priority=1\r\npong\r\nx":     {"the flag -priority is there twice", "x", false},
		add + " -other=1\r\npong\r\nx":                    {"add has no flag -other", "x", false},
		add + " -max-attempts=256\r\npong\r\nx":           {`"256" is not a valid value of -max-attempts`, "x", false},
		"add 1 ping 1000 60000 4\r\npong\r\nx":            {`"1" is not a valid id`, "x", false},
		"add " + id + " ping 86400001 1 4\r\npong\r\nx":   {`"86400001" is not a valid ttr`, "x", false},
		"add " + id + " ping 1 1 x\r\nx":                  {`"x" is not a valid size`, "x", false},
		"add " + id + " ping 1 1 4194304\r\nx":            {`"4194304" is not a valid size`, "", true},
		"run " + id + " ping 1 1 0 -max-fails=1\r\n\r\nx": {"run has no flag -max-fails", "x", false},
		"schedule " + id + " p 1 1 2016-06-14 0\r\n\r\nx": {`"2016-06-14" is not a valid time`, "x", false},
		"complete " + id + " 1048577\r\n" + strings.Repeat("x", 1<<20+1) +
			"\r\nx": {`"1048577" is not a valid size`, "x", false},
		strings.Repeat("x", workq.MaxLine): {"the line has no end within 65536 bytes",
			"", true},
	} {
		_, n, err := workq.ParseCommand([]byte(text))
		name := text[:min(60, len(text))]
		malformed, ok := errors.AsType[*workq.CommandError](err)
		require.True(t, ok, name)
		assert.Equal(t, want.reason, malformed.Reason, name)
		if want.isLost {
			assert.Zero(t, n, name)
		} else {
			assert.Equal(t, want.rest, text[n:], name)
		}
	}
}

func TestPrioritiesThatTheDocumentGivesTwice(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"-1", "0", "4294967296"} {
		c, err := workq.ParseLine("run " + id + " ping 1 1 0 -priority=" + word)
		require.NoError(t, err)
		assert.Equal(t, "run", c.Verb)
	}
}

func FuzzCommand(f *testing.F) {
	f.Add([]byte("add " + id + " ping 1000 60000 4 -priority=10\r\npong\r\n"))
	f.Add([]byte("inspect jobs ping 0 10\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, n, err := workq.ParseCommand(b)
		if n < 0 || n > len(b) {
			t.Fatalf("%d bytes of %d", n, len(b))
		}
		if err != nil {
			return
		}
		other, m, err := workq.ParseCommand(b[:n])
		require.NoError(t, err)
		assert.Equal(t, n, m)
		assert.Equal(t, c, other)
	})
}
