package check

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/program"
)

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
