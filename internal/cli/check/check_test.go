package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// runMain is Main with nothing around it.
func runMain(args ...string) (code int, stdout, stderr string) { return runMainOn("", args...) }

// runMainOn is Main with this standard input.
func runMainOn(in string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(shared.Process{Args: args, In: strings.NewReader(in), Out: &out, Err: &err, LookupEnv: noEnvironment})
	return code, out.String(), err.String()
}

func TestMainKeepsNothing(t *testing.T) {
	t.Parallel()
	for range 2 {
		code, out, err := runMain("version")
		assert.Equal(t, reports.ExitWell, code)
		assert.Contains(t, out, "fwpcheck ")
		assert.Empty(t, err)
	}
	code, _, _ := runMain("run", "--check", "nosuch")
	assert.Equal(t, reports.ExitUsage, code)
	code, out, _ := runMain("list", "--json")
	assert.Equal(t, reports.ExitWell, code)
	assert.Contains(t, out, `"clauses"`)
}

func TestMainWithoutArguments(t *testing.T) {
	t.Parallel()
	code, out, err := runMain()
	assert.Equal(t, reports.ExitUsage, code)
	assert.Empty(t, out)
	assert.Contains(t, err, "Commands:")
}

func TestBugsOfOurs(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	code := Main(shared.Process{
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
	e := &reports.Exploration{Head: reports.Head{Trouble: reports.Trouble{Internal: "a disk is full"}}}
	recordEnd(t.Context(), e)
	assert.Equal(t, "a disk is full", e.Internal)
	assert.False(t, e.Interrupted)
}

// fullDisk is a disk that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestStandardOutputThatTakesNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"version"}, {"list"}, {"list", "--clauses", "--json"}, {"explain", "FWP-HI-01"}, {"run", "-"},
	} {
		var err bytes.Buffer
		code := Main(shared.Process{Args: args, In: strings.NewReader("S: +HI {}\n"), Out: fullDisk{}, Err: &err,
			LookupEnv: noEnvironment})
		assert.Equal(t, reports.ExitInternal, code, args)
		assert.Contains(t, err.String(), "the disk is full", args)
	}
}

// runInColumns runs a command with so many columns and returns its output.
func runInColumns(t *testing.T, columns int, args ...string) (out string, code int) {
	t.Helper()
	var b strings.Builder
	code = Main(shared.Process{
		Args: args, In: strings.NewReader(""), Out: &b, Err: &b,
		LookupEnv: func(name string) (string, bool) { return strconv.Itoa(columns), name == "COLUMNS" },
	})
	return b.String(), code
}

// assertFits fails unless every line has at most so many characters, and no word is cut that has room.
func assertFits(t *testing.T, columns int, out string) {
	t.Helper()
	for line := range strings.SplitSeq(out, "\n") {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimPrefix(line, "\t")), columns, line)
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 80, 120} {
		for _, command := range []string{"", "run", "explore", "upgrade", "list", "explain", "completion", "help"} {
			t.Run(fmt.Sprint(command, " ", columns), func(t *testing.T) {
				t.Parallel()
				out, code := runInColumns(t, columns, strings.Fields(command+" --help")...)
				require.Zero(t, code)
				assert.Contains(t, out, "Usage:\n  fwpcheck")
				assertFits(t, columns, out)
			})
		}
	}
}

func TestReportsFitTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 80, 120} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			out, code := runInColumns(t, columns, "run", "--check", "info/*", "--bug", "info-arguments", "--strict")
			require.Equal(t, 1, code, out)
			_, report, _ := strings.Cut(out, "target ")
			assertFits(t, columns, report)
			assert.Contains(t, report, "FWP-INFO-03")
			out, code = runInColumns(t, columns, "run", "--check", "info/*", "-v")
			require.Zero(t, code, out)
			_, report, _ = strings.Cut(out, "target ")
			assertFits(t, columns, report)
			out, _ = runInColumns(t, columns, "explain", "FWP-INFO-03")
			assertFits(t, columns, out)
			out, _ = runInColumns(t, columns, "list", "--bugs")
			assertFits(t, columns, out)
		})
	}
}

// TestLongRepliesAreCut compares two servers whose replies of 228 KB differ in their middle alone.
func TestLongRepliesAreCut(t *testing.T) {
	t.Parallel()
	longReply := func(middle string) string {
		half := strings.Repeat("x", 114<<10)
		return half + middle + half
	}
	result := &explore.ComparisonResult{Coverage: &explore.Coverage{}, Differences: []explore.Difference{{
		Command: "INFO", Field: "server", Sides: [2]explore.Side{{Reply: longReply("a")}, {Reply: longReply("b")}}, Count: 1,
		Hits: 1, Tries: 1,
		Conversation: []explore.Exchange{{Step: "INFO", Replies: [2]string{longReply("a"), longReply("b")}}},
	}}}
	var c reports.Comparison
	(&compareOptions{}).fillReport(&c, result, [2]shared.Endpoint{})
	exchange, sides := c.Differences[0].Conversation[0], c.Differences[0]
	for _, reply := range []string{exchange.A, exchange.B, sides.A.Reply, sides.B.Reply} {
		assert.Less(t, len(reply), 500)
		assert.Regexp(t, text.Cut, reply)
		assert.Contains(t, reply, "233473 bytes in all")
	}
	assert.NotEqual(t, exchange.A, exchange.B)
}

// What explain points at must be there.
func TestEveryAmbiguityIsListed(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(ambiguities)))
	require.NoError(t, err)
	for _, c := range fwpsuite.Clauses() {
		for code := range strings.SplitSeq(c.Ambiguity, ", ") {
			if code != "" {
				assert.Contains(t, string(document), "\n## "+code+": ", c.ID)
			}
		}
	}
}

// waitingChecks returns checks that wait for so long; their names are "a", "b" and so on.
func waitingChecks(waits ...time.Duration) (checks []conformance.Check) {
	for i, wait := range waits {
		description := conformance.Description{ID: string(rune('a' + i)), Wait: wait}
		checks = append(checks, waitingCheck{description: description})
	}
	return checks
}

// waitingCheck is a check that is never played.
type waitingCheck struct {
	description conformance.Description
	conformance.Check
}

func (c waitingCheck) Describe() conformance.Description { return c.description }

func TestProgress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		waits            []time.Duration
		repeat, parallel int
		done             string // checks, in their order
		want             string
	}{
		"at the start": {[]time.Duration{80 * time.Second, 0}, 1, 0, "",
			"0 of 2 checks, about 1m 10s left, 10 s so far"},
		"the longest waits": {[]time.Duration{80 * time.Second, 0}, 1, 0, "b",
			"1 of 2 checks, about 1m 10s left, 10 s so far, b"},
		"the longest ended": {[]time.Duration{80 * time.Second, 0}, 1, 0, "a",
			"1 of 2 checks, about 10 s left, 10 s so far, a"},
		"no wait":    {[]time.Duration{0, 0, 0, 0, 0}, 1, 0, "abcd", "4 of 5 checks, about 3 s left, 10 s so far, d"},
		"it is late": {[]time.Duration{5 * time.Second, 0}, 1, 0, "", "0 of 2 checks, 10 s so far"},
		"each twice": {[]time.Duration{80 * time.Second, 0}, 2, 0, "ab",
			"2 of 4 checks, about 1m 10s left, 10 s so far, b"},
		"two at a time": {slices.Repeat([]time.Duration{time.Minute}, 6), 1, 2, "a",
			"1 of 6 checks, about 2m 30s left, 10 s so far, a"},
		"too early to tell": {make([]time.Duration, 11), 1, 0, "a", "1 of 11 checks, 10 s so far, a"},
		"all are over": {[]time.Duration{0, 0}, 1, 0, "ab",
			"2 of 2 checks, 10 s so far, finishing: retrying inconclusive checks"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProgress(waitingChecks(test.waits...), test.repeat, test.parallel)
				time.Sleep(10 * time.Second)
				for i, check := range test.done {
					p.finish(i+1, p.total, string(check))
				}
				share, parts := p.state()
				assert.Equal(t, test.want, strings.Join(parts, ", "))
				assert.InDelta(t, float64(len(test.done))/float64(p.total), share, 1e-9)
			})
		})
	}
}

// The files of the repository are about checks and clauses that there are.
func TestTheExpectationsOfTheRepository(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../expectations/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all, err := registry.Default().Checks()
	require.NoError(t, err)
	for _, file := range files {
		in := all
		producer := strings.Contains(file, "-client-")
		if producer || strings.Contains(file, "-worker-") {
			in = (&clientOptions{isProducer: producer}).harness(nil).Checks()
		}
		e, err := (&expectFlags{name: file}).read(selection{checks: in})
		require.NoError(t, err)
		assert.NotEmpty(t, e.file.Lines)
	}
}

// What a shell is needed for is named before anything is done.
func TestWithoutAShell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for needs, args := range map[string][]string{
		"--start":         {"run", "--start", "./srv {port}"},
		"--control":       {"run", "--url", "tcp://127.0.0.1:1", "--control", "docker {action} srv"},
		"fwpcheck worker": {"worker", "--", "./w"},
		"fwpcheck client": {"client", "--", "./c"},
	} {
		var messages strings.Builder
		p := shared.Process{Args: args, In: strings.NewReader(""), Out: io.Discard, Err: &messages, LookupEnv: noEnvironment}
		assert.Equal(t, reports.ExitUsage, Main(p))
		assert.Contains(t, messages.String(), "sh was not found, and "+needs+" needs it: ")
	}
}

// The page for authors of servers has twenty rows, each about clauses that bind servers and can be broken, and the
// section of each is found.
func TestHowToFixServers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to-fix-servers.md"))
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| FWP-") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		assert.Len(t, cells, 4, line)
		for id := range strings.SplitSeq(strings.TrimSpace(cells[0]), ", ") {
			c, ok := registry.Default().ClauseByID(id)
			assert.True(t, ok && c.BindsServer() && c.BreachVerdict().IsBreach(), "%s is never a finding about a server", id)
			page, section, _ := strings.Cut(docs.Fix(false, id), "#")
			assert.Equal(t, "docs/how-to-fix-servers.md", page)
			title := strings.ToLower("\n## " + strings.ReplaceAll(section, "-", " ") + "\n")
			assert.Contains(t, strings.ToLower(strings.ReplaceAll(string(text), ",", "")), title, id)
		}
	}
	assert.Equal(t, 20, rows)
	assert.Equal(t, "docs/how-to-fix-workers.md#jobs-lost", docs.Fix(true, "FWP-ACK-05"))
	assert.Empty(t, docs.Fix(false, "FWP-ACK-05"), "it binds workers")
	assert.Empty(t, docs.Fix(false, ""))
}
