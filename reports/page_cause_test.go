package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExceptionPlace(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"": "",
		"Traceback (most recent call last):\n  File \"/s/main.py\", line 9, in run\n    f()\n" +
			"  File \"/s/job.py\", line 51, in f\nKeyError: 'jid'": "/s/job.py:51",
		"panic: nil map\n\ngoroutine 7 [running]:\n/usr/lib/go/src/runtime/panic.go:77 +0x1\nmain.f()\n\t/s/main.go:33 +0x1d": "/s/main.go:33",
		"TypeError: x is undefined\n    at push (/s/server.mjs:12:7)\n    at node:net:5":                                      "/s/server.mjs:12",
		"server.rb:8:in `push': undefined method (NoMethodError)\n\tfrom server.rb:40:in `<main>'":                            "server.rb:8",
		"10:12:01 queue.go:33: pushed": "", // a line of a log
		"listening\nready":             "",
	} {
		e := Evidence{Printed: strings.Split(printed, "\n")}
		assert.Equal(t, want, e.exceptionPlace(), printed)
	}
}

// TestOneException: what a server does at one place of its source is one block for a terminal, which ends with the place.
func TestOneException(t *testing.T) {
	t.Parallel()
	traceback := func(line int) []string {
		return []string{"Traceback (most recent call last):", fmt.Sprintf(`  File "s.py", line %d, in f`, line), "KeyError: 'jid'"}
	}
	r := &Report{}
	for i, line := range []int{51, 51, 51, 8, 0} {
		f := Finding{Clause: fmt.Sprintf("X-%02d", i), Verdict: Fail, Evidence: Evidence{Actual: fmt.Sprintf("got-%c", 'a'+rune(i))}}
		if line > 0 {
			f.Printed = traceback(line)
		}
		r.Checks = append(r.Checks, Check{ID: fmt.Sprintf("check-%d", i), Verdict: Fail, Findings: []Finding{f}})
	}
	show := func(o PageOptions) string {
		var out bytes.Buffer
		require.NoError(t, r.Page(o).WriteText(&out, TextOptions{}))
		return out.String()
	}
	text := show(PageOptions{ForTerminal: true})
	assert.Equal(t, 3, strings.Count(text, "got-"), text)
	assert.Contains(t, text, "also      fail X-01 in check-1\n            fail X-02 in check-2\n")
	assert.NotContains(t, text, "also in", "it is for the same clauses")
	assert.Contains(t, text, "begin at  s.py:51: the server failed there beside 3 findings\n")
	assert.NotContains(t, text, "s.py:8: the server failed", "one finding is no more than itself")
	for _, o := range []PageOptions{{}, {ForTerminal: true, Verbose: true}} {
		assert.Equal(t, 5, strings.Count(show(o), "got-"), "each has an entry that it is linked to by")
	}
}
