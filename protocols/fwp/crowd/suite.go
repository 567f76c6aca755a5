package crowd

import (
	"fmt"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// Suite returns the checks of the suite: its scripts, and its properties. All callers share what the checks say of
// themselves, which takes longer to find out than to parse the scripts. An error is one of the suite.
func Suite() ([]conformance.Check, error) {
	all, err := suite()
	return slices.Clone(all), err
}

var suite = sync.OnceValues(func() ([]conformance.Check, error) {
	scripts, err := fwpscript.Suite()
	if err != nil {
		return nil, fmt.Errorf("the suite's own scripts: %w", err)
	}
	all := conformance.Scripts(scripts...)
	for _, p := range fwpsuite.Explorations() {
		all = append(all, p)
	}
	return append(all, Check()), nil
})
