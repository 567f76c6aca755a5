package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/jobtype"
)

// TestEveryPageIsInTheIndex: README.md has a link to each page of the folder, and decisions/README.md to each decision.
func TestEveryPageIsInTheIndex(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{".", "decisions"} {
		index, err := os.ReadFile(filepath.Join(folder, "README.md"))
		require.NoError(t, err)
		for _, page := range pages(t, folder) {
			assert.Contains(t, string(index), "("+page+")", "%s/README.md has no link to %s", folder, page)
		}
	}
}

// TestPagesSayWhoTheyAreFor: below its heading a page says for whom it is; generated ones say what writes them.
func TestPagesSayWhoTheyAreFor(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t, ".") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		_, intro, _ := strings.Cut(string(text), "\n\n")
		assert.True(t, strings.HasPrefix(intro, "*For ") || strings.HasPrefix(intro, "Written by "),
			"%s: the first line below the heading is neither \"*For ...*\" nor \"Written by ...\"", page)
	}
}

func pages(t *testing.T, folder string) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		if name := filepath.Base(path); name != "README.md" {
			names = append(names, name)
		}
	}
	return names
}

// TestTheReadmeIsShort: its 600 words are for newcomers; it links to the index, which has every other page.
func TestTheReadmeIsShort(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(strings.Fields(string(readme))), 600)
	for _, index := range []string{"docs/README.md", "docs/decisions/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} {
		assert.Contains(t, string(readme), "("+index+")")
	}
	commands := regexp.MustCompile(`(?m)^    (go (?:run|test) [^#\n]*[^# \n])`).FindAllSubmatch(readme, 2)
	require.Len(t, commands, 2)
	ci, err := os.ReadFile(filepath.Join("..", ".ci", "run"))
	require.NoError(t, err)
	assert.Contains(t, string(ci), "step "+string(commands[1][1])+" ", ".ci/run calls the README's test command")
}

// quotes are words that troubleshooting.md says a user sees: *so* in the first column of a table.
var quotes = regexp.MustCompile(`(?m)^\| [^|]*?\*([^*|]+)\*`)

// TestTroubleshootingQuotes: a program prints the words that the page explains; a number in them may be another one.
func TestTroubleshootingQuotes(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	}))
	page, err := os.ReadFile("troubleshooting.md")
	require.NoError(t, err)
	found := quotes.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, found)
	for _, words := range found {
		for _, part := range regexp.MustCompile(` ?\d\w+ ?`).Split(words[1], -1) {
			assert.Contains(t, code.String(), part, words[1])
		}
	}
}

// TestCIFilesHaveTheSameActions: what fwpcheck init writes has the releases of actions that the page has.
func TestCIFilesHaveTheSameActions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ci.md")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join("..", "internal", "cli", "shared", "initial", "[gGjJ]*"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.SplitSeq(string(text), "\n") {
			if action := regexp.MustCompile(`uses: \S+ # v\S+`).FindString(line); action != "" {
				assert.Contains(t, string(page), action, "%s has another release of an action than ci.md", name)
			}
		}
	}
}

// TestEachJobTypeIsDocumented: the tables of judging-workers.md have the rows of the job types, in their order, and
// each sample of a worker has the types of FWP.
func TestEachJobTypeIsDocumented(t *testing.T) {
	t.Parallel()
	page := read(t, "judging-workers.md")
	for name, types := range map[string][]jobtype.Type{"type": jobtype.FWP(), "name": jobtype.Workq()} {
		rows := "| " + name + " | what it does |\n|---|---|\n"
		for _, jobType := range types {
			rows += fmt.Sprintf("| `%s` | %s |\n", jobType.Name, jobType.Does)
		}
		if !strings.Contains(page, rows+"\n") {
			t.Errorf("judging-workers.md should have the table\n%s", rows)
		}
	}
	for _, sample := range []string{
		"npm/worker.mjs", "go/worker/main.go", "python/worker.py", "python/plain_worker.py", "ruby/worker.rb",
	} {
		text := read(t, filepath.Join("..", "clients", sample))
		for _, name := range jobtype.Names(jobtype.FWP()) {
			if !strings.Contains(text, `"`+name+`"`) {
				t.Errorf("clients/%s lacks %s", sample, name)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
