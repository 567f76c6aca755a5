package check

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
)

func TestReached(t *testing.T) {
	t.Parallel()
	assert.Equal(t, &reports.Functions{Of: 3, Never: []string{"example.com/s/main.go:9: serve"}}, reached([]byte(
		"example.com/s/main.go:7:\tmain\t\t\t66.7%\nexample.com/s/main.go:9:\tserve\t0.0%\n"+
			"example.com/s/main.go:30:\tanswer\t100.0%\ntotal\t(statements)\t50.0%\n")))
}

func TestCoverDir(t *testing.T) {
	t.Parallel()
	none := coverFlags{}
	require.NoError(t, none.apply(program.Endpoint{}))
	assert.Nil(t, none.functions(t.Context()))
	c := coverFlags{dir: filepath.Join(t.TempDir(), "a", "b")}
	require.ErrorContains(t, c.apply(program.Endpoint{}), "--start")
	e := program.Endpoint{Starter: &target.Starter{}}
	require.NoError(t, c.apply(e))
	assert.Equal(t, []string{"GOCOVERDIR=" + c.dir}, e.Starter.Environment)
	assert.Contains(t, c.functions(t.Context()).Open, "built with -cover")
}
