package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	maxFiles   = 40 // Go files of a package, its tests included
	maxComment = 6  // lines of a package comment
)

func TestFoldersAreSmall(t *testing.T) {
	t.Parallel()
	for _, p := range modulePackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		require.NoError(t, err)
		assert.LessOrEqual(t, len(files), maxFiles, "%s has more Go files than a reader can survey", p.Name)
	}
}

// TestPackageCommentsAreShort: they say what a package is. What a type promises is said at the type, and a list of
// files is wrong soon.
func TestPackageCommentsAreShort(t *testing.T) {
	t.Parallel()
	count := 0
	for _, p := range modulePackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go")) // of all systems
		require.NoError(t, err)
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			assert.Empty(t, longSentence(file.Doc), name)
			if file.Doc != nil {
				count++
			}
		}
	}
	assert.NotZero(t, count)
}

var listsFiles = regexp.MustCompile(`Files\b.*:|To read:|\bThe files\b`)

// longSentence says what is wrong with a package comment.
func longSentence(doc *ast.CommentGroup) string {
	text := ""
	if doc != nil {
		for _, c := range doc.List {
			text += c.Text + "\n"
		}
	}
	switch {
	case strings.Count(text, "\n") > maxComment:
		return "longer than six lines"
	case listsFiles.MatchString(text):
		return "lists files"
	}
	return ""
}

func TestWordy(t *testing.T) {
	t.Parallel()
	const six = "// Package x.\n//\n//\n//\n//\n// It is y.\n"
	for comment, want := range map[string]string{
		"":                                       "",
		six:                                      "",
		six + "// And z.\n":                      "longer than six lines",
		"/*\n" + six + "*/\n":                    "longer than six lines",
		"// Package x.\n//\n// Files: a.go.\n":   "lists files",
		"// Files, by idea:\n":                   "lists files",
		"// To read: a.go.\n":                    "lists files",
		"// The files by idea:\n":                "lists files",
		"// Package x reads files: all kinds.\n": "",
		six + "\n// Package x.\n":                "", // a licence or the like is no package comment
	} {
		_, files := parseText(t, comment+"package x\n")
		assert.Equal(t, want, longSentence(files[0].Doc), comment)
	}
}
