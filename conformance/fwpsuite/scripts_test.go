package fwpsuite_test

import (
	"testing"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
)

func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	suitetest.InOrder(t, fwpsuite.Protocol())
}
