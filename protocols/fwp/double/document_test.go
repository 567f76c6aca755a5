package double_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocument: docs/test-double.md has each request of the control, and no other one.
func TestDocument(t *testing.T) {
	t.Parallel()
	request := regexp.MustCompile(`(?:GET|POST|PUT|DELETE) /v1/\w+`)
	requests := func(path string, around string) []string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var all []string
		for _, found := range regexp.MustCompile(around+request.String()+around).FindAllString(string(text), -1) {
			all = append(all, request.FindString(found))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	inCode := requests("control.go", `"`)
	assert.NotEmpty(t, inCode)
	assert.Equal(t, inCode, requests(filepath.Join("..", "..", "..", "docs", "test-double.md"), "`"))
}
