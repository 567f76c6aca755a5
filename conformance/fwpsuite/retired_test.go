package fwpsuite_test

import (
	"testing"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/internal/suitetest"
)

func TestWhatStandsInsteadOfRetiredChecks(t *testing.T) {
	t.Parallel()
	suitetest.Retired(t, fwpsuite.Protocol())
}
