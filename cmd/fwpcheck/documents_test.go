//go:build linux && !race

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// pageCommand is a command in a block of code of a page.
type pageCommand struct{ page, command string }

// exclusions are the commands of the pages that no test plays, by how they begin, and why. Everything else is played: as
// it is where it ends soon, and else on a server that is not there, which refuses what is wrong with a command line.
var exclusions = []struct{ command, reason string }{
	{"go ", "takes a network, or is about the tests and benchmarks themselves; .ci/run calls go test ./..."},
	{"make ", "is a target of the Makefile, most of them steps of .ci/run"},
	{"podman ", "needs podman and the image"},
	{"kubectl ", "needs a cluster; make kubernetes decodes the manifests"},
	{"fwpcheck run --start 'exec docker ", "needs docker; containers_test.go plays it with FWP_CONTAINERS"},
	{"fwpbench run --rate 100 --duration 5m --disrupt kill,kill-server", "needs docker; containers_test.go plays it"},
	{"cosign ", "needs a release"},
	{"gh ", "needs a release"},
	{"sha256sum ", "needs a release"},
	{"fwpcheck run --url x://", "x is a protocol that does not exist"},
	{"fwpcheck lint protocols/x/script", "x is a protocol that does not exist"},
	{"fwpcheck serve", "serves until it is interrupted; scripts/running.txtar has it"},
	{"fwpcheck site *.json", "has a pattern for the shell; scripts/site.txtar has it"},
	{"fwpcheck upgrade", "takes minutes; scripts/upgrade.txtar has it"},
	{"fwpbench compare --run embedded", "takes minutes"},
	{"fwpbench compare --run --aa", "takes minutes"},
	{"fwpbench compare results/", "needs the reports of pairs of runs"},
	{"fwpbench compare --run one-queue.yaml", "needs two workloads, and tries them before it connects"},
	{"fwpbench worker ", "needs a worker library; scripts/worker.txtar of fwpbench has it"},
	{"fwpbench compare --run worker:", "needs worker libraries; scripts/worker.txtar of fwpbench has it"},
	{"fwpbench compare old.json new.json", "needs the reports of two runs"},
	{"fwpbench merge part-", "needs the reports of two machines; scripts/segment.txtar of fwpbench has it"},
	{"fwpbench run --disrupt schedule.yaml", "takes minutes; scripts/disrupt.txtar of fwpbench has it"},
	{"fwpbench run --trace load.csv", "needs a recorded trace; scripts/workload.txtar of fwpbench has it"},
	{"fwpcheck recheck run.history", "needs the history of a load; scripts/life.txtar has it"},
	{"fwpbench run --segment", "begins at three o'clock; scripts/segment.txtar of fwpbench has it"},
}

// quickCommands are those that end soon as they are, without a server.
var quickCommands = regexp.MustCompile(`^fwpcheck (list|explain|lint|fmt|init|compare \S+\.json)|^fwpbench (presets|metrics)`)

// embeddedCommands are those on an embedded server that are played as they are with FWP_SLOW=1.
var embeddedCommands = regexp.MustCompile(`^fwpcheck run( --quick| --protocol \w+|)$`)

// bugCommands are those on the embedded server with a bug, whose report a page has: they are played, with less of the rest.
var bugCommands = regexp.MustCompile(`--bug `)

var (
	programLine  = regexp.MustCompile(`(?:^|[ ;"])(fwpcheck|fwpbench) [a-z].*`)
	goRunLine    = regexp.MustCompile(`go run (?:\./|github\.com/fwpsuite/fwp/)cmd/(fwpcheck|fwpbench)(?:@\S+)?`)
	rowCommand   = regexp.MustCompile("^\\| `((?:fwpcheck|fwpbench) [^`]* -[^`]*)` \\|")
	toolLine     = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*((?:go|make|podman|kubectl|cosign|gh|sha256sum) .*)`)
	continuation = regexp.MustCompile(`\\+\n\s+`)
	comment      = regexp.MustCompile(`\s+#.*$`)
	address      = regexp.MustCompile(`\b(tcp\+tls|tcp|workq|emqp)://[^\s'"]+`)
	startFlag    = regexp.MustCompile(`(--start[= ]'?|start:)(?:faktory(?:=[^\s']+)?|[^\s'{]+)`)
)

// commandsOf returns the commands in the blocks of code of a page, indented and fenced ones, and in the first column of
// its tables, if they have a flag.
func commandsOf(t *testing.T, page string) (all []pageCommand) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	isFenced, start := false, ""
	for line := range strings.SplitSeq(continuation.ReplaceAllString(string(text), " "), "\n") {
		if strings.HasPrefix(line, "```") {
			isFenced = !isFenced
			continue
		}
		if row := rowCommand.FindStringSubmatch(line); !isFenced && row != nil {
			all = append(all, pageCommand{page, row[1]})
		}
		if !isFenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		line = strings.TrimSpace(goRunLine.ReplaceAllString(line, "$1"))
		if value, ok := strings.CutPrefix(line, "S="); ok {
			start = value
		}
		line = strings.ReplaceAll(line, `"$S"`, start)
		if !strings.HasPrefix(line, "#") {
			line = comment.ReplaceAllString(line, "")
		}
		switch found := programLine.FindStringSubmatchIndex(line); {
		case toolLine.MatchString(line):
			all = append(all, pageCommand{page, toolLine.FindStringSubmatch(line)[1]})
		case found != nil && (found[2] == 0 || strings.HasPrefix(line, "- run:") || strings.HasPrefix(line, "- fwp") ||
			strings.HasPrefix(line, "sh ")):
			for command := range strings.SplitSeq(strings.Trim(line[found[2]:], `"`), "; ") {
				all = append(all, pageCommand{page, command})
			}
		}
	}
	return all
}

// TestDocumentedCommands plays the commands of the README and of all pages.
func TestDocumentedCommands(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	pages := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "SECURITY.md")}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	var all []pageCommand
	for _, page := range append(pages, docs...) {
		all = append(all, commandsOf(t, page)...)
	}
	require.Greater(t, len(all), 150, "there are more commands than that")
	folder := t.TempDir()
	t.Chdir(folder)
	writeSnippets(t, root)
	rows := map[string]bool{}
	for _, d := range all { //nolint:paralleltest // the commands share a folder, which is that of the process
		at := slices.IndexFunc(exclusions, func(n struct{ command, reason string }) bool {
			return strings.HasPrefix(d.command+"  ", n.command)
		})
		page, _ := filepath.Rel(root, d.page)
		if at >= 0 {
			rows[exclusions[at].command] = true
			if strings.HasPrefix(d.command, "fwp") {
				assertParses(t, page, d.command)
			}
			t.Logf("not played: %s: %s: %s", page, d.command, exclusions[at].reason)
			continue
		}
		t.Run(page+": "+d.command, func(t *testing.T) { d.play(t, page) })
	}
	assert.Len(t, rows, len(exclusions), "a row of notPlayed is about no command: those that are: %v", rows)
}

// assertParses requires that a command takes its flags and their values. It is not played: --help is added to it.
func assertParses(t *testing.T, page, line string) {
	t.Helper()
	words := shellWords(t, line)
	code, out := runLine(words[0]+" "+words[1], append([]string{"--help"}, words[2:]...)...)
	assert.Zero(t, code, "%s: %s\n%s", page, line, out)
}

// TestExamplesOfHelp: each flag of an example takes its value.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	for line := range commandLines {
		_, help := runLine(line, "--help")
		_, examples, _ := strings.Cut(help, "Examples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		for example := range strings.SplitSeq(strings.ReplaceAll(examples, "\n      ", " "), "\n") {
			if found := programLine.FindString(strings.TrimSpace(comment.ReplaceAllString(example, ""))); found != "" {
				for command := range strings.SplitSeq(found, " && ") {
					assertParses(t, line, strings.TrimSpace(command))
				}
			}
		}
	}
}

// blockOf returns the block of code of a page that begins with some words, up to an empty line.
func blockOf(t *testing.T, page, first string) []byte {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, found, ok := strings.Cut(string(text), "\n    "+first)
	require.True(t, ok, "%s has no block that begins with %q", page, first)
	block, _, _ := strings.Cut(first+found, "\n\n")
	return []byte(strings.ReplaceAll(block, "\n    ", "\n") + "\n")
}

// writeSnippets writes the files that the commands name: those of which a page has the text, and reports.
func writeSnippets(t *testing.T, root string) {
	t.Helper()
	block := func(page, first string) []byte { return blockOf(t, filepath.Join(root, page), first) }
	files := map[string][]byte{
		"my-bug.fwp":    block("README.md", "# my-bug.fwp"),
		"bug.fwp":       block("README.md", "# my-bug.fwp"),
		"workq.fwp":     []byte("protocol: workq\ntitle: one job\n\nC: add $id $name 1000 60000 * <- pong\nS: +OK\n"),
		"nightly.yaml":  block("docs/workloads.md", "# nightly.yaml"),
		"schedule.yaml": block("docs/durability.md", "# schedule.yaml"),
		"known.expect":  nil, "fwpcheck.expect": nil,
	}
	require.NoError(t, os.CopyFS("docs/found", os.DirFS(filepath.Join(root, "docs/found"))))
	expectations, err := os.ReadFile(filepath.Join(root, "expectations", "faktory-1.10.0.txt"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("expectations", 0o700))
	files["expectations/faktory-1.10.0.txt"] = expectations
	code, report := runLine("fwpcheck run --check info/* --format json --no-progress")
	require.Zero(t, code, report)
	_, report, _ = strings.Cut(report, "\n") // which server
	for _, name := range []string{"old.json", "new.json", "run.json", "explored.json", "report.json"} {
		files[name] = []byte(report)
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	code, report = runLine("fwpcheck explore --bug job-reserve-default --steps 40 --clients 0 --seed 1 --save findings")
	require.Equal(t, 1, code, report)
	config := block("docs/checking-a-server.md", "start: ./my-server")
	require.NoError(t, os.WriteFile("config.yaml", []byte(strings.Replace(string(config), "./my-server", "false", 1)), 0o600))
	code, out := runLine("fwpcheck run --config config.yaml")
	assert.Equal(t, 4, code, "%s\n%s", config, out)
}

// play plays a command, and fails if it is refused. One that loads or tests a server has one that is not there.
func (d pageCommand) play(t *testing.T, page string) {
	t.Helper()
	line := d.command
	want, isQuick := []int{4}, quickCommands.MatchString(line)
	switch {
	case isQuick:
		want = []int{0}
		if strings.Contains(line, "compare") {
			want = append(want, 3) // a report of a server that was not there
		}
	case bugCommands.MatchString(line):
		want = []int{1, 3}
		if strings.Contains(line, "explore") || strings.Contains(line, "compare") {
			want = append(want, 0) // after so few steps
			line += " --steps 200 --no-shrink"
		} else if !golden.IsSlow() && !strings.Contains(line, "--check") {
			line += " --check ack/* --check retry/*"
		}
	case golden.IsSlow() && embeddedCommands.MatchString(line):
		want = []int{0}
	default:
		line = replaceServers(line)
	}
	words := shellWords(t, line)
	if strings.HasPrefix(line, "fwpcheck init") {
		t.Chdir(t.TempDir())
	}
	code, out := runLine(words[0]+" "+words[1], words[2:]...)
	assert.Contains(t, want, code, "%s: %s\nplayed as %q\n%s", page, d.command, words, out)
	assert.NotContains(t, out, "internal error", page)
}

// replaceServers returns a command with servers that are not there: nothing listens at 127.0.0.1:1.
func replaceServers(line string) string {
	if strings.Contains(line, "workq://") {
		line = strings.ReplaceAll(line, "my-bug.fwp", "workq.fwp")
	}
	line = address.ReplaceAllString(line, "$1://127.0.0.1:1")
	line = startFlag.ReplaceAllString(line, "${1}false")
	line = regexp.MustCompile(`--start(=| )false( |$)`).ReplaceAllString(line, "--start${1}'false {port}'$2")
	line = strings.NewReplacer("start:false", "tcp://127.0.0.1:1", "--url ...", "--url tcp://127.0.0.1:1", "--url URL",
		"--url tcp://127.0.0.1:1", "--rate R", "--rate 1000/s", "--embedded", "").Replace(line)
	line = strings.ReplaceAll(line, "--pid 4711", fmt.Sprint("--pid ", os.Getpid()))
	before, _, ok := strings.Cut(line, " -- ")
	if ok {
		return before + " -- false"
	}
	hasServer := strings.Contains(line, "://") || strings.Contains(line, "--start")
	protocol := regexp.MustCompile(`--protocol (\S+)`).FindStringSubmatch(line)
	switch {
	case hasServer:
	case strings.Contains(line, "--update-expect"):
		line += " --config config.yaml"
	case strings.Contains(line, "--disrupt kill"):
		line += " --start 'false {port}'"
	case protocol != nil:
		line += fmt.Sprintf(" --url %s://127.0.0.1:1", protocol[1])
	default:
		line += " --url tcp://127.0.0.1:1"
	}
	if strings.Contains(line, "fwpcheck wait") {
		line += " --timeout 10ms"
	}
	return line
}

// shellWords splits a command as a shell does, as far as the pages need that.
func shellWords(t *testing.T, line string) (words []string) {
	t.Helper()
	parts := strings.Split(line, "'")
	require.Equal(t, 1, len(parts)%2, "an open quotation mark: %s", line)
	isOpen := false
	for i, part := range parts {
		if i%2 == 1 {
			if isOpen {
				words[len(words)-1] += part
			} else {
				words = append(words, part)
			}
			isOpen = true
			continue
		}
		for j, word := range strings.Fields(part) {
			if j == 0 && isOpen && !strings.HasPrefix(part, " ") {
				words[len(words)-1] += word
			} else {
				words = append(words, word)
			}
		}
		isOpen = part != "" && !strings.HasSuffix(part, " ")
	}
	return words
}
