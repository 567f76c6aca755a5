package check

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/reports"
)

// played is Main with nothing around it.
func played(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(program.Process{Args: args, In: strings.NewReader(""), Out: &out, Err: &err,
		LookupEnv: func(string) (string, bool) { return "", false }})
	return code, out.String(), err.String()
}

func TestMainKeepsNothing(t *testing.T) {
	t.Parallel()
	for range 2 {
		code, out, err := played("version")
		assert.Equal(t, reports.ExitWell, code)
		assert.Contains(t, out, "fwpcheck ")
		assert.Empty(t, err)
	}
	code, _, _ := played("run", "--check", "nosuch")
	assert.Equal(t, reports.ExitUsage, code)
	code, out, _ := played("list", "--json")
	assert.Equal(t, reports.ExitWell, code)
	assert.Contains(t, out, `"clauses"`)
}

func TestMainWithoutArguments(t *testing.T) {
	t.Parallel()
	code, out, err := played()
	assert.Equal(t, reports.ExitUsage, code)
	assert.Empty(t, out)
	assert.Contains(t, err, "Commands:")
}

func TestFaultsOfOurs(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	code := Main(program.Process{
		Args: []string{"run", "--check", "hello"}, In: strings.NewReader(""), Out: io.Discard, Err: &err,
		LookupEnv: func(string) (string, bool) { panic("what is that?") },
	})
	assert.Equal(t, reports.ExitInternal, code)
	assert.Contains(t, err.String(), "what is that?")
	assert.Contains(t, err.String(), "Please report it")
	assert.NotContains(t, err.String(), "goroutine")
}

func TestAFileThatCannotBeWrittenStays(t *testing.T) {
	t.Parallel()
	e := &reports.Exploration{Internal: "a disk is full"}
	ended(t.Context(), e)
	assert.Equal(t, "a disk is full", e.Internal)
	assert.False(t, e.Interrupted)
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestStandardOutputThatTakesNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"version"}, {"list"}, {"list", "--clauses", "--json"}, {"explain", "FWP-HI-01"}, {"run", "-"},
	} {
		var err bytes.Buffer
		code := Main(program.Process{Args: args, In: strings.NewReader("S: +HI {}\n"), Out: full{}, Err: &err,
			LookupEnv: func(string) (string, bool) { return "", false }})
		assert.Equal(t, reports.ExitInternal, code, args)
		assert.Contains(t, err.String(), "the disk is full", args)
	}
}
