package archtest

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// retiredWords is the list of words that were given up. A line holds, separated by tabs, a
// regular expression, what it applies to ("go", "md" or "all" files; "name" for the identifiers of Go files and
// "comment" for their comments outside of quotes), and the word to use.
const retiredWords = "testdata/retired.txt"

// retired is one line of the list.
type retired struct {
	form   *regexp.Regexp
	part   []byte // that every match contains; may be empty
	where  string
	advice string
}

func TestRetiredWordsStayRetired(t *testing.T) {
	t.Parallel()
	list := readRetired(t)
	for _, name := range trackedFiles(t) {
		ending := strings.TrimPrefix(filepath.Ext(name), ".")
		content, err := os.ReadFile(filepath.Join("..", "..", name))
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		require.NoError(t, err)
		assert.Empty(t, retiredIn(list, ending, content), "%s (docs/glossary.md has the words in use)", name)
	}
}

func TestRetiredIn(t *testing.T) {
	t.Parallel()
	list := []retired{newRetired(`\bcrowd`, "go", "stress"), newRetired(`\b[Tt]old\b`, "all", "reported")}
	assert.Equal(t, []string{"line 2: crowd (use stress)"}, retiredIn(list, "go", []byte("a\nb crowds c")))
	assert.Equal(t, []string{"line 1: told (use reported)"}, retiredIn(list, "md", []byte("told of a crowd\n")))
	assert.Empty(t, retiredIn(list, "txt", []byte("a\n")))

	list = []retired{newRetired(`\bodd\b`, "name", "notALine"), newRetired(`\bnobody\b`, "comment", "no client")}
	assert.Equal(t, []string{"line 2: odd (use notALine)", "line 3: nobody (use no client)"}, retiredIn(list, "go",
		[]byte("package x // an odd \"nobody\"\nvar odd = \"odd nobody\"\n// nobody asks\n")))
	assert.Empty(t, retiredIn(list, "md", []byte("nobody is odd\n")))
}

// retiredIn returns the uses of retired words in one file.
func retiredIn(list []retired, ending string, content []byte) []string {
	texts := map[string][]byte{"all": content, ending: content}
	if ending == "go" {
		texts["name"], texts["comment"] = namesAndComments(content)
	}
	var found []string
	for _, r := range list {
		text := texts[r.where]
		if !bytes.Contains(text, r.part) {
			continue
		}
		for _, at := range r.form.FindAllIndex(text, -1) {
			line := 1 + bytes.Count(text[:at[0]], []byte("\n"))
			found = append(found, fmt.Sprintf("line %d: %s (use %s)", line, text[at[0]:at[1]], r.advice))
		}
	}
	return found
}

var quoted = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"")

// namesAndComments returns a Go file twice: with its identifiers alone, and with its comments alone, of which what
// stands in quotes is blank. Everything else is blank, so that lines keep their numbers.
func namesAndComments(content []byte) (names, comments []byte) {
	names, comments = blank(content), blank(content)
	file := token.NewFileSet().AddFile("", -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		at := file.Offset(pos)
		switch tok {
		case token.EOF:
			return names, comments
		case token.IDENT:
			copy(names[at:], text)
		case token.COMMENT:
			copy(comments[at:], quoted.ReplaceAllFunc(content[at:at+len(text)], blank))
		}
	}
}

// blank returns as many spaces as there are bytes, with the same ends of lines.
func blank(text []byte) []byte {
	out := bytes.Repeat([]byte(" "), len(text))
	for i, b := range text {
		if b == '\n' {
			out[i] = b
		}
	}
	return out
}

func newRetired(form, where, advice string) retired {
	r := retired{regexp.MustCompile(form), nil, where, advice}
	if tree, err := syntax.Parse(form, syntax.Perl); err == nil {
		r.part = []byte(literal(tree))
	}
	return r
}

// literal returns the longest text that every match of an expression contains. To look for it first takes a tenth of
// the time.
func literal(tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			return string(tree.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literal(tree.Sub[0])
	case syntax.OpConcat:
		longest := ""
		for _, sub := range tree.Sub {
			if l := literal(sub); len(l) > len(longest) {
				longest = l
			}
		}
		return longest
	}
	return ""
}

func readRetired(t *testing.T) []retired {
	t.Helper()
	content, err := os.ReadFile(retiredWords)
	require.NoError(t, err)
	var list []retired
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		require.Len(t, parts, 3, line)
		require.Contains(t, []string{"go", "md", "all", "name", "comment"}, parts[1], line)
		list = append(list, newRetired(parts[0], parts[1], parts[2]))
	}
	require.NotEmpty(t, list)
	return list
}

// trackedFiles lists the Go and Markdown files of the module, from its root.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "*.go", "*.md")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Skip("the module is not in a git checkout: ", err)
	}
	return strings.Fields(string(out))
}
