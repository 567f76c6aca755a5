package play

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestList(t *testing.T) {
	t.Parallel()
	has := func(line string) func(string) bool {
		return func(part string) bool {
			return !strings.ContainsFunc(line, func(r rune) bool { return !strings.ContainsRune(part, r) })
		}
	}
	for name, test := range map[string]struct {
		list  string
		still func(string) bool
		want  string
	}{
		"one of many":            {"abcdefghij", has("g"), "g"},
		"the first and the last": {"abcdefghij", has("aj"), "aj"},
		"all of them":            {"abc", has("abc"), "abc"},
		"never an empty list":    {"abcd", func(string) bool { return true }, "d"},
		"a single one":           {"a", func(string) bool { return true }, "a"},
		"nothing":                {"", func(string) bool { return true }, ""},
		// b can go only once c is gone, which a single round down to single elements would not see.
		"one that another one holds": {"abc", func(part string) bool {
			return strings.Contains(part, "a") && (strings.Contains(part, "b") || !strings.Contains(part, "c"))
		}, "a"},
	} {
		got := Shorten(t.Context(), strings.Split(test.list, ""), func(_ context.Context, part []string) bool {
			assert.NotEmpty(t, part, name)
			return test.still(strings.Join(part, ""))
		})
		assert.Equal(t, test.want, strings.Join(got, ""), name)
	}
}

// TestListAsksLittle: of a long list with one element that counts, halves are left out before single elements are
// tried.
func TestListAsksLittle(t *testing.T) {
	t.Parallel()
	list, calls := make([]int, 1024), 0
	for i := range list {
		list[i] = i
	}
	got := Shorten(t.Context(), list, func(_ context.Context, part []int) bool {
		calls++
		return slices.Contains(part, 700)
	})
	assert.Equal(t, []int{700}, got)
	assert.LessOrEqual(t, calls, 25, "twice for each half")
	assert.Len(t, list, 1024)
}

// TestListEnds: nothing is asked any more when the time is over, and what was left out until then stays out.
func TestListEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	got := Shorten(ctx, []int{1, 2, 3, 4}, func(_ context.Context, part []int) bool {
		calls++
		cancel()
		return true
	})
	assert.Equal(t, []int{3, 4}, got)
	assert.Equal(t, 1, calls)
}
