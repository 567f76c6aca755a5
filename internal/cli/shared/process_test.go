package shared

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// terminalProcess is a process whose outputs somebody looks at, or not.
func terminalProcess(isTerminal bool, env map[string]string) Process {
	return Process{
		LookupEnv:  func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		isTerminal: func(io.Writer) bool { return isTerminal },
	}
}

func TestColor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		flag       string
		isTerminal bool
		env        map[string]string
		want       bool
	}{
		{flag: "auto"},
		{flag: "auto", isTerminal: true, want: true},
		{flag: "auto", isTerminal: true, env: map[string]string{"NO_COLOR": ""}, want: true},
		{flag: "auto", isTerminal: true, env: map[string]string{"NO_COLOR": "1"}},
		{flag: "auto", isTerminal: true, env: map[string]string{"TERM": "dumb"}},
		{flag: "auto", isTerminal: true, env: map[string]string{"TERM": "xterm"}, want: true},
		{flag: "never", isTerminal: true},
		{flag: "always", env: map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, want: true},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, terminalProcess(test.isTerminal, test.env).wantsColor(test.flag), test)
	}
}

func TestMessagesFit(t *testing.T) {
	t.Parallel()
	message := func(env map[string]string) string {
		var out strings.Builder
		p := terminalProcess(true, env)
		p.Name, p.Err = "fwpcheck", &out
		p.Logf("%s", "one two three four five six\n  seven eight nine ten eleven")
		return out.String()
	}
	assert.Equal(t, "fwpcheck: one two\n  three four five six\n  seven eight nine\n    ten eleven\n",
		message(map[string]string{"COLUMNS": "21"}))
	assert.Equal(t, "fwpcheck: one two three four five six\n  seven eight nine ten eleven\n", message(nil),
		"the width is not known")
}

// No width puts a command of a CI system at the beginning of a line of standard error.
func TestNoMessageIsACommand(t *testing.T) {
	t.Parallel()
	for width := range 100 {
		var out strings.Builder
		p := terminalProcess(true, map[string]string{"COLUMNS": strconv.Itoa(width)})
		p.Name, p.Err = "fwpcheck", &out
		p.Logf("a server sent %s", "word ::stop-commands::a ##[error]b\n::error::c\r\nd\x1b[2J\u202e\xff\x00")
		assert.NotRegexp(t, `(?m)^(\s*::|\s*##)|##\[|[^\n -~]`, out.String())
	}
}
