package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	link        = regexp.MustCompile(`\]\(([^()\s]+)\)|\b(?:src|href)="([^"]+)"`)
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```|^    [^\n]*$|`[^`\n]*`")
	codeLink    = regexp.MustCompile(`\bdocs/[a-z0-9/-]+\.md(?:#[a-z0-9-]+)?`)
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	punctuation = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// TestLinks: each link of a page, and each page that the code names, is a file of the repository, and its anchor is a
// heading of that file.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		require.NoError(t, err)
		for _, page := range found {
			if strings.Contains(page, "node_modules") {
				continue
			}
			for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(read(t, page), ""), -1) {
				if to := match[1] + match[2]; !strings.Contains(to, "://") && !strings.HasPrefix(to, "mailto:") {
					checkLink(t, page, filepath.Dir(page), to)
				}
			}
		}
	}
	require.NoError(t, filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, to := range codeLink.FindAllString(read(t, path), -1) {
			checkLink(t, path, "..", to)
		}
		return nil
	}))
}

// checkLink fails the test unless a link of a file, relative to a folder, has a target.
func checkLink(t *testing.T, file, folder, to string) {
	t.Helper()
	path, anchor, _ := strings.Cut(to, "#")
	target := filepath.Join(folder, path)
	if path == "" {
		target = file
	}
	if _, err := os.Stat(target); !assert.NoError(t, err, "%s: the link %s", file, to) || anchor == "" {
		return
	}
	var anchors []string
	for _, match := range heading.FindAllStringSubmatch(read(t, target), -1) {
		anchors = append(anchors, strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	assert.Contains(t, anchors, anchor, "%s: the link %s", file, to)
}
