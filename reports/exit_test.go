package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorstExit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		codes []int
		want  int
	}{
		{nil, ExitWell}, {[]int{ExitWell}, ExitWell}, {[]int{ExitInconclusive, ExitFindings}, ExitFindings},
		{[]int{ExitFindings, ExitLoss, ExitInconclusive}, ExitLoss}, {[]int{ExitUsage, ExitLoss}, ExitUsage},
		{[]int{ExitUsage, ExitUnreachable}, ExitUnreachable}, {[]int{ExitInternal, ExitUnreachable}, ExitInternal},
		{[]int{ExitInternal, ExitInterrupted}, ExitInterrupted},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, WorstExit(test.codes...), test.codes)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	claims := []claim{
		claimed(ExitWell, true, "well"), claimed(ExitFindings, true, "first"), claimed(ExitFindings, true, "second"),
		claimed(ExitInternal, false, "internal"),
	}
	assert.Equal(t, outcome{ExitFindings, "first"}, decide(claims))
	assert.Equal(t, outcome{ExitWell, ""}, decide(nil))
}

// The document and the code have one table.
func TestExitCodesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "docs", "verdicts.md"))
	require.NoError(t, err)
	var codes []string
	for _, e := range exits {
		assert.Contains(t, string(document), strings.ReplaceAll(fmt.Sprintf("\n| %d | %s | %s |\n", e.code, e.check, e.bench),
			"|  |", "| |"))
		codes = append(codes, fmt.Sprint(e.code))
	}
	assert.Contains(t, string(document), "Where several apply: "+strings.Join(codes, ", ")+".")
}
