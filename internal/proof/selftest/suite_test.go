package selftest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

// parseSuite parses the scripts once: a play changes none of them.
var parseSuite = sync.OnceValues(fwpscript.Suite)

// suite returns the scripts of the suite as checks.
func suite(t *testing.T) []conformance.Check {
	t.Helper()
	scripts, err := parseSuite()
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	return conformance.Scripts(scripts...)
}
