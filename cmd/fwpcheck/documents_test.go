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

// documented is a command in a block of code of a page.
type documented struct{ page, command string }

// notPlayed are the commands of the pages that no test plays, by how they begin, and why. Everything else is played: as
// it is where it ends soon, and else on a server that is not there, which refuses what is wrong with a command line.
var notPlayed = []struct{ command, why string }{
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

// atOnce are those that end soon as they are, without a server.
var atOnce = regexp.MustCompile(`^fwpcheck (list|explain|lint|fmt|init|compare \S+\.json)|^fwpbench (presets|metrics)`)

// embedded are those on an embedded server that are played as they are with FWP_SLOW=1.
var embedded = regexp.MustCompile(`^fwpcheck run( --quick| --protocol \w+|)$`)

// onBug are those on the embedded server with a bug, whose report a page has: they are played, with less of the rest.
var onBug = regexp.MustCompile(`--bug `)

var (
	ofPrograms = regexp.MustCompile(`(?:^|[ ;"])(fwpcheck|fwpbench) [a-z].*`)
	fromSource = regexp.MustCompile(`go run (?:\./|github\.com/fwpsuite/fwp/)cmd/(fwpcheck|fwpbench)(?:@\S+)?`)
	ofRow      = regexp.MustCompile("^\\| `((?:fwpcheck|fwpbench) [^`]* -[^`]*)` \\|")
	ofOthers   = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*((?:go|make|podman|kubectl|cosign|gh|sha256sum) .*)`)
	continued  = regexp.MustCompile(`\\+\n\s+`)
	comment    = regexp.MustCompile(`\s+#.*$`)
	address    = regexp.MustCompile(`\b(tcp\+tls|tcp|workq|emqp)://[^\s'"]+`)
	startOf    = regexp.MustCompile(`(--start[= ]'?|start:)(?:faktory(?:=[^\s']+)?|[^\s'{]+)`)
)

// commandsOf returns the commands in the blocks of code of a page, indented and fenced ones, and in the first column of
// its tables, if they have a flag.
func commandsOf(t *testing.T, page string) (all []documented) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	fenced, start := false, ""
	for line := range strings.SplitSeq(continued.ReplaceAllString(string(text), " "), "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if row := ofRow.FindStringSubmatch(line); !fenced && row != nil {
			all = append(all, documented{page, row[1]})
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		line = strings.TrimSpace(fromSource.ReplaceAllString(line, "$1"))
		if value, is := strings.CutPrefix(line, "S="); is {
			start = value
		}
		line = strings.ReplaceAll(line, `"$S"`, start)
		if !strings.HasPrefix(line, "#") {
			line = comment.ReplaceAllString(line, "")
		}
		switch found := ofPrograms.FindStringSubmatchIndex(line); {
		case ofOthers.MatchString(line):
			all = append(all, documented{page, ofOthers.FindStringSubmatch(line)[1]})
		case found != nil && (found[2] == 0 || strings.HasPrefix(line, "- run:") || strings.HasPrefix(line, "- fwp") ||
			strings.HasPrefix(line, "sh ")):
			for one := range strings.SplitSeq(strings.Trim(line[found[2]:], `"`), "; ") {
				all = append(all, documented{page, one})
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
	var all []documented
	for _, page := range append(pages, docs...) {
		all = append(all, commandsOf(t, page)...)
	}
	require.Greater(t, len(all), 150, "there are more commands than that")
	folder := t.TempDir()
	t.Chdir(folder)
	snippets(t, root)
	used := map[string]bool{}
	for _, one := range all { //nolint:paralleltest // the commands share a folder, which is that of the process
		at := slices.IndexFunc(notPlayed, func(n struct{ command, why string }) bool {
			return strings.HasPrefix(one.command+"  ", n.command)
		})
		page, _ := filepath.Rel(root, one.page)
		if at >= 0 {
			used[notPlayed[at].command] = true
			if strings.HasPrefix(one.command, "fwp") {
				parses(t, page, one.command)
			}
			t.Logf("not played: %s: %s: %s", page, one.command, notPlayed[at].why)
			continue
		}
		t.Run(page+": "+one.command, func(t *testing.T) { one.play(t, page) })
	}
	assert.Len(t, used, len(notPlayed), "a row of notPlayed is about no command: those that are: %v", used)
}

// parses requires that a command takes its flags and their values. It is not played: --help is added to it.
func parses(t *testing.T, page, line string) {
	t.Helper()
	words := shellWords(t, line)
	code, out := played(words[0]+" "+words[1], append([]string{"--help"}, words[2:]...)...)
	assert.Zero(t, code, "%s: %s\n%s", page, line, out)
}

// TestExamplesOfHelp: each flag of an example takes its value.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	for line := range ending {
		_, help := played(line, "--help")
		_, examples, _ := strings.Cut(help, "Examples:\n")
		examples, _, _ = strings.Cut(examples, "\n\n")
		for example := range strings.SplitSeq(strings.ReplaceAll(examples, "\n      ", " "), "\n") {
			if found := ofPrograms.FindString(strings.TrimSpace(comment.ReplaceAllString(example, ""))); found != "" {
				for one := range strings.SplitSeq(found, " && ") {
					parses(t, line, strings.TrimSpace(one))
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
	_, found, is := strings.Cut(string(text), "\n    "+first)
	require.True(t, is, "%s has no block that begins with %q", page, first)
	block, _, _ := strings.Cut(first+found, "\n\n")
	return []byte(strings.ReplaceAll(block, "\n    ", "\n") + "\n")
}

// snippets writes the files that the commands name: those of which a page has the text, and reports.
func snippets(t *testing.T, root string) {
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
	written, err := os.ReadFile(filepath.Join(root, "expectations", "faktory-1.10.0.txt"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("expectations", 0o700))
	files["expectations/faktory-1.10.0.txt"] = written
	code, report := played("fwpcheck run --check info/* --format json --no-progress")
	require.Zero(t, code, report)
	_, report, _ = strings.Cut(report, "\n") // which server
	for _, name := range []string{"old.json", "new.json", "run.json", "explored.json", "report.json"} {
		files[name] = []byte(report)
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, text, 0o600))
	}
	code, report = played("fwpcheck explore --bug job-reserve-default --steps 40 --clients 0 --seed 1 --save findings")
	require.Equal(t, 1, code, report)
	config := block("docs/checking-a-server.md", "start: ./my-server")
	require.NoError(t, os.WriteFile("config.yaml", []byte(strings.Replace(string(config), "./my-server", "false", 1)), 0o600))
	code, out := played("fwpcheck run --config config.yaml")
	assert.Equal(t, 4, code, "%s\n%s", config, out)
}

// play plays a command, and fails if it is refused. One that loads or tests a server has one that is not there.
func (d documented) play(t *testing.T, page string) {
	t.Helper()
	line := d.command
	want, soon := []int{4}, atOnce.MatchString(line)
	switch {
	case soon:
		want = []int{0}
		if strings.Contains(line, "compare") {
			want = append(want, 3) // a report of a server that was not there
		}
	case onBug.MatchString(line):
		want = []int{1, 3}
		if strings.Contains(line, "explore") || strings.Contains(line, "compare") {
			want = append(want, 0) // after so few steps
			line += " --steps 200 --no-shrink"
		} else if !golden.Slow() && !strings.Contains(line, "--check") {
			line += " --check ack/* --check retry/*"
		}
	case golden.Slow() && embedded.MatchString(line):
		want = []int{0}
	default:
		line = nowhere(line)
	}
	words := shellWords(t, line)
	if strings.HasPrefix(line, "fwpcheck init") {
		t.Chdir(t.TempDir())
	}
	code, out := played(words[0]+" "+words[1], words[2:]...)
	assert.Contains(t, want, code, "%s: %s\nplayed as %q\n%s", page, d.command, words, out)
	assert.NotContains(t, out, "internal error", page)
}

// nowhere returns a command with servers that are not there: nothing listens at 127.0.0.1:1.
func nowhere(line string) string {
	if strings.Contains(line, "workq://") {
		line = strings.ReplaceAll(line, "my-bug.fwp", "workq.fwp")
	}
	line = address.ReplaceAllString(line, "$1://127.0.0.1:1")
	line = startOf.ReplaceAllString(line, "${1}false")
	line = regexp.MustCompile(`--start(=| )false( |$)`).ReplaceAllString(line, "--start${1}'false {port}'$2")
	line = strings.NewReplacer("start:false", "tcp://127.0.0.1:1", "--url ...", "--url tcp://127.0.0.1:1", "--url URL",
		"--url tcp://127.0.0.1:1", "--rate R", "--rate 1000/s", "--embedded", "").Replace(line)
	line = strings.ReplaceAll(line, "--pid 4711", fmt.Sprint("--pid ", os.Getpid()))
	before, _, of := strings.Cut(line, " -- ")
	if of {
		return before + " -- false"
	}
	named := strings.Contains(line, "://") || strings.Contains(line, "--start")
	protocol := regexp.MustCompile(`--protocol (\S+)`).FindStringSubmatch(line)
	switch {
	case named:
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
	open := false
	for i, part := range parts {
		if i%2 == 1 {
			if open {
				words[len(words)-1] += part
			} else {
				words = append(words, part)
			}
			open = true
			continue
		}
		for j, word := range strings.Fields(part) {
			if j == 0 && open && !strings.HasPrefix(part, " ") {
				words[len(words)-1] += word
			} else {
				words = append(words, word)
			}
		}
		open = part != "" && !strings.HasSuffix(part, " ")
	}
	return words
}
