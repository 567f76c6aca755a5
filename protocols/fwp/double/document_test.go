package double

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readFile returns a file of the repository.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	require.NoError(t, err)
	return string(text)
}

// TestDocument: docs/test-double.md has each request of the control with its query, and no other one, and the packages
// for Node and Python have a method for each.
func TestDocument(t *testing.T) {
	t.Parallel()
	requests := new(Double).requests(nil)
	page := readFile(t, "docs/test-double.md")
	found := regexp.MustCompile("`((?:GET|POST|PUT|DELETE) /v1/\\w+)`").FindAllStringSubmatch(page, -1)
	documented := map[string]bool{}
	for _, match := range found {
		documented[match[1]] = true
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(requests)), slices.Collect(maps.Keys(documented)))
	clients := []string{readFile(t, "clients/python/fwpcheck.py"), readFile(t, "clients/npm/fwpcheck/index.mjs")}
	for pattern, q := range requests {
		for _, name := range q.query {
			assert.Contains(t, page, name+"=", "%s: %s", pattern, name)
		}
		for _, client := range clients {
			if pattern != "GET /v1/schema" {
				assert.Contains(t, client, `"`+strings.Replace(pattern, " ", `", "`, 1)+`"`)
			}
		}
	}
}

// TestTypesOfNode: the interfaces of the package for Node have each field that the control has.
func TestTypesOfNode(t *testing.T) {
	t.Parallel()
	types := readFile(t, "clients/npm/fwpcheck/index.d.ts")
	var all struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema, &all))
	for _, name := range []string{"Expectation", "Stub", "StoredJob", "Entry"} {
		_, body, ok := strings.Cut(types, "export interface "+name+" {")
		require.True(t, ok, name)
		body, _, _ = strings.Cut(body, "\n}")
		var fields []string
		for _, match := range regexp.MustCompile(`(?m)^  (\w+)\??:`).FindAllStringSubmatch(body, -1) {
			fields = append(fields, match[1])
		}
		properties := all.Defs[name].Properties
		delete(properties, "used") // the server counts
		assert.ElementsMatch(t, slices.Collect(maps.Keys(properties)), fields, name)
	}
}
