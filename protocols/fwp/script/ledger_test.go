package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/session"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

func TestLedger(t *testing.T) {
	t.Parallel()
	const push, fetch = `PUSH {"jid":"j1","queue":"q"%s}`, "FETCH q"
	tests := map[string]struct {
		talk      []string // commands and replies by turns
		leftover  string
		removable bool
	}{
		"nothing":               {nil, "", false},
		"pushed":                {[]string{fmt.Sprintf(push, ""), "+OK"}, "j1 in queue q", true},
		"pushed to the default": {[]string{`PUSH {"jid":"j1"}`, "+OK"}, "j1 in queue default", true},
		"refused":               {[]string{fmt.Sprintf(push, ""), "-ERR"}, "", false},
		"fetched":               {[]string{fmt.Sprintf(push, ""), "+OK", fetch, `${"jid":"j1"}`}, "j1", true},
		"nothing fetched":       {[]string{fmt.Sprintf(push, ""), "+OK", fetch, "$-1"}, "j1 in queue q", true},
		"acknowledged":          {[]string{fmt.Sprintf(push, ""), "+OK", `ACK {"jid":"j1"}`, "+OK"}, "", false},
		"failed, comes again": {[]string{fmt.Sprintf(push, ""), "+OK", fetch, `${"jid":"j1"}`, `FAIL {"jid":"j1"}`,
			"+OK"}, "j1 in queue q", true},
		"failed without a retry": {[]string{fmt.Sprintf(push, `,"retry":0`), "+OK", fetch, `${"jid":"j1"}`,
			`FAIL {"jid":"j1"}`, "+OK"}, "", false},
		"failed, among the dead": {[]string{fmt.Sprintf(push, `,"retry":-1`), "+OK", fetch, `${"jid":"j1"}`,
			`FAIL {"jid":"j1"}`, "+OK"}, "j1 among the dead jobs", false},
		"of another, given back":   {[]string{fetch, `${"jid":"x"}`, `FAIL {"jid":"x"}`, "+OK"}, "", false},
		"flushed":                  {[]string{fmt.Sprintf(push, ""), "+OK", "FLUSH", "+OK"}, "", false},
		"what is no job is no job": {[]string{`PUSH {"jid":`, "-ERR"}, "", false},
		"accepted, not readable":   {[]string{`PUSH {"jid":"j1","args":[NaN]}`, "+OK"}, "", false},
		"fetched, not readable":    {[]string{fetch, `${"jid":"j1","args":[NaN]}`}, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := fwpscript.Dialect{}.NewLedger()
			for i := 0; i < len(test.talk); i += 2 {
				l.Answered([]byte(test.talk[i]+"\r\n"), message(test.talk[i+1]))
			}
			assert.Equal(t, test.leftover, strings.Join(l.Leftover(), ", "))
			assert.Equal(t, test.removable, l.Removable())
		})
	}
}

// TestSweep: plain queues of jobs that were pushed are asked once more, and a job that has ended and comes again is not
// taken for that of another client.
func TestSweep(t *testing.T) {
	t.Parallel()
	l := fwpscript.Dialect{}.NewLedger()
	for _, talk := range [][2]string{
		{`PUSH {"jid":"j1","queue":"q"}`, "+OK"}, {`PUSH {"jid":"j2","queue":"two words"}`, "+OK"},
		{`PUSH {"jid":"j3","queue":"r"}`, "-ERR"}, {`PUSH {"jid":"j4","queue":"q"}`, "+OK"},
		{"FETCH q", `${"jid":"j1"}`}, {`ACK {"jid":"j1"}`, "+OK"}, {"FETCH q", `${"jid":"x"}`},
	} {
		l.Answered([]byte(talk[0]+"\r\n"), message(talk[1]))
	}
	assert.Equal(t, []string{"q"}, l.Queues())
	assert.True(t, l.Owns("j1"))
	assert.False(t, l.Owns("j3") || l.Owns("x"))
	for jid, want := range map[string]string{"j1": `ACK {"jid":"j1"}`, "x": `FAIL {"jid":"x"`, "": ""} {
		var sent []string
		got, ok := fwpscript.Dialect{}.Sweep([]string{"q", "r"}, l.Owns, func(line string) (session.Message, bool) {
			if sent = append(sent, line); jid == "" {
				return message("$-1"), true
			}
			return message(fmt.Sprintf("${\"jid\":%q}", jid)), true
		})
		assert.True(t, ok)
		assert.Equal(t, jid, got)
		assert.Equal(t, "FETCH q r", sent[0])
		assert.Contains(t, strings.Join(sent[1:], "\n"), want)
	}
}

// TestCleanup: what was fetched is acknowledged, what waits is fetched and acknowledged, and
// a job of another client is given back with a FAIL, never acknowledged.
func TestCleanup(t *testing.T) {
	t.Parallel()
	fill := func() (answered func(command string, reply string), cleanup func(replies map[string][]string) []string) {
		l := fwpscript.Dialect{}.NewLedger()
		answered = func(command, reply string) { l.Answered([]byte(command+"\r\n"), message(reply)) }
		return answered, func(replies map[string][]string) (sent []string) {
			l.Cleanup(func(line string) (session.Message, bool) {
				sent = append(sent, line)
				verb, _, _ := strings.Cut(line, " ")
				if len(replies[verb]) == 0 {
					return session.Message{}, false
				}
				reply := replies[verb][0]
				replies[verb] = replies[verb][1:]
				answered(line, reply)
				return message(reply), true
			})
			return sent
		}
	}
	answered, cleanup := fill()
	answered(`PUSH {"jid":"j1","queue":"q"}`, "+OK")
	answered(`PUSH {"jid":"j2","queue":"q"}`, "+OK")
	answered("FETCH q", `${"jid":"j1"}`)
	sent := cleanup(map[string][]string{"ACK": {"+OK", "+OK"}, "FETCH": {`${"jid":"x"}`, `${"jid":"j2"}`},
		"FAIL": {"+OK"}})
	assert.Equal(t, []string{
		`ACK {"jid":"j1"}`, "FETCH q",
		`FAIL {"jid":"x","errtype":"fwpcheck","message":"fetched by a check, given back","backtrace":[]}`,
		"FETCH q", `ACK {"jid":"j2"}`,
	}, sent)

	answered, cleanup = fill()
	answered(`PUSH {"jid":"j1","queue":"q"}`, "+OK")
	answered(`PUSH {"jid":"j2","queue":"a b"}`, "+OK")
	assert.Equal(t, []string{"FETCH q"}, cleanup(map[string][]string{"FETCH": {"$-1"}}),
		"no FETCH can name the other queue")
	answered("FETCH q", `${"jid":"j1"}`)
	assert.Equal(t, []string{`ACK {"jid":"j1"}`}, cleanup(nil), "it stops where nothing is answered")
}
