package stress

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// Suite returns the checks of the suite: its scripts, and its properties. An error is one of the suite.
func Suite() ([]conformance.Check, error) {
	scripts, err := fwpdialect.Suite()
	if err != nil {
		return nil, fmt.Errorf("the suite's own scripts: %w", err)
	}
	return append(conformance.Scripts(scripts...), conformance.Exploration(), Check()), nil
}
