package golden_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

func TestFilesThatAreAsExpected(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.golden")
	require.NoError(t, os.WriteFile(file, []byte("{\"A\":1}\r\n"), 0o600))
	golden.File(t, file, "{\"A\":1}\r\n")
	golden.Document(t, file, "{\"A\":1}\n", "go test -update")
	assert.Equal(t, map[string]int{"A": 1}, *golden.ReadGolden[map[string]int](t, file))
}

func TestFillSetsEveryField(t *testing.T) {
	t.Parallel()
	var v struct {
		Flag  bool
		Texts []string
		Next  *struct{ N int }
		quiet int
	}
	golden.Fill(reflect.ValueOf(&v).Elem())
	assert.True(t, v.Flag)
	assert.Len(t, v.Texts, 2)
	assert.NotEmpty(t, v.Texts[1])
	assert.NotZero(t, v.Next.N)
	assert.Zero(t, v.quiet)
}
