package run

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEndOf: two ends of a process are one if they have the reason and the place in common, whatever else was printed.
func TestEndOf(t *testing.T) {
	t.Parallel()
	const (
		went   = "the process of the server ended: exit status 2; its last output:\n"
		python = "  Traceback (most recent call last):\n"
	)
	for name, test := range map[string]struct{ ending, want string }{
		"nothing":  {"", ""},
		"a signal": {"the process of the server ended: signal: killed; it printed nothing", ""},
		"a panic": {
			went + "  panic: runtime error: index out of range [5] with length 3\n  goroutine 7 [running]:\n" +
				"  panic({0x7a, 0x1})\n      /usr/lib/go/src/runtime/panic.go:792 +0x132\n" +
				"  main.(*Server).serve(0xc00010c000, {0x1, 0x2})\n      /src/server.go:17 +0x1d\n  main.main()\n",
			"panic: runtime error: index out of range [N] with length N at main.(*Server).serve",
		},
		"a fatal error": {
			went + "  fatal error: concurrent map writes\n  goroutine 19 [running]:\n" +
				"  internal/runtime/maps.fatal({0x1, 0x15})\n" +
				"  example.com/q.(*Queue).Push(0xc0, {0x0})\n",
			"fatal error: concurrent map writes at example.com/q.(*Queue).Push",
		},
		"a panic without a place": {went + "  panic: no", ""},
		"an exception": {
			went + python + "    File \"/src/router.py\", line 10, in <module>\n      r.start()\n" +
				"    File \"/src/classes.py\", line 367, in recv\n      [m.decode() for m in msg]\n" +
				"  UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1: invalid start byte",
			"UnicodeDecodeError at /src/classes.py\", line 367, in recv",
		},
		"the last of two exceptions": {
			went + python + "    File \"/src/a.py\", line 1, in a\n  KeyError: 'x'\n" +
				python + "    File \"/src/b.py\", line 2, in b\n  ValueError: no",
			"ValueError at /src/b.py\", line 2, in b",
		},
		"words alone": {went + "  listening\n  an Error: of nothing", ""},
	} {
		assert.Equal(t, test.want, endOf(test.ending), name)
	}
}
