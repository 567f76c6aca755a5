package suite_test

import (
	"testing"

	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	suitetest.CheckOrder(t, fwpsuite.Protocol())
}
