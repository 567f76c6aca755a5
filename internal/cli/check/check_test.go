package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
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
	e := &reports.Exploration{Trouble: reports.Trouble{Internal: "a disk is full"}}
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

// printed runs a command with so many columns and returns its output.
func printed(t *testing.T, columns int, args ...string) (out string, code int) {
	t.Helper()
	var both strings.Builder
	code = Main(program.Process{
		Args: args, In: strings.NewReader(""), Out: &both, Err: &both,
		LookupEnv: func(name string) (string, bool) { return strconv.Itoa(columns), name == "COLUMNS" },
	})
	return both.String(), code
}

// fits fails unless every line has at most so many characters, and no word is cut that has room.
func fits(t *testing.T, columns int, out string) {
	t.Helper()
	for line := range strings.SplitSeq(out, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimPrefix(line, "\t")), columns, line)
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 80, 120} {
		for _, command := range []string{"", "run", "explore", "selftest", "list", "explain", "completion", "help"} {
			t.Run(fmt.Sprint(command, " ", columns), func(t *testing.T) {
				t.Parallel()
				out, code := printed(t, columns, strings.Fields(command+" --help")...)
				require.Zero(t, code)
				assert.Contains(t, out, "Usage:\n  fwpcheck")
				fits(t, columns, out)
			})
		}
	}
}

func TestReportsFitTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 80, 120} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			out, code := printed(t, columns, "run", "--check", "info/*", "--fault", "info-arguments", "--strict")
			require.Equal(t, 1, code, out)
			_, report, _ := strings.Cut(out, "target ")
			fits(t, columns, report)
			assert.Contains(t, report, "FWP-INFO-03")
			out, code = printed(t, columns, "run", "--check", "info/*", "-v")
			require.Zero(t, code, out)
			_, report, _ = strings.Cut(out, "target ")
			fits(t, columns, report)
			out, _ = printed(t, columns, "explain", "FWP-INFO-03")
			fits(t, columns, out)
			out, _ = printed(t, columns, "list", "--faults")
			fits(t, columns, out)
		})
	}
}

// TestLongRepliesAreCut compares two servers whose replies of 228 KB differ in their middle alone.
func TestLongRepliesAreCut(t *testing.T) {
	t.Parallel()
	long := func(middle string) string {
		half := strings.Repeat("x", 114<<10)
		return half + middle + half
	}
	of := &explore.Compared{Coverage: &explore.Coverage{}, Differences: []explore.Difference{{
		Command: "INFO", Field: "server", Sides: [2]explore.Side{{Reply: long("a")}, {Reply: long("b")}}, Count: 1,
		Shown: 1, Tried: 1,
		Conversation: []explore.Exchange{{Step: "INFO", Replies: [2]string{long("a"), long("b")}}},
	}}}
	var c reports.Comparison
	(&compareOptions{}).record(&c, of, [2]program.Endpoint{})
	shown, sides := c.Differences[0].Conversation[0], c.Differences[0]
	for _, reply := range []string{shown.A, shown.B, sides.A.Reply, sides.B.Reply} {
		assert.Less(t, len(reply), 500)
		assert.Regexp(t, text.Cut, reply)
		assert.Contains(t, reply, "233473 bytes in all")
	}
	assert.NotEqual(t, shown.A, shown.B)
}

// What explain points at must be there.
func TestEveryAmbiguityIsListed(t *testing.T) {
	t.Parallel()
	listed, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(ambiguities)))
	require.NoError(t, err)
	for _, c := range fwpsuite.Clauses() {
		for code := range strings.SplitSeq(c.Ambiguity, ", ") {
			if code != "" {
				assert.Contains(t, string(listed), "\n## "+code+": ", c.ID)
			}
		}
	}
}
