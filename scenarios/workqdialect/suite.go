package workqdialect

import (
	"embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/scenarios"
)

//go:embed scripts
var suiteFiles embed.FS

// Suite returns the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending. They are parsed once, and all callers share them:
// nobody may change a script. The error is that of the first one that does not parse, which a test of the suite would
// have found.
func Suite() ([]*scenarios.Script, error) {
	all, err := suite()
	return slices.Clone(all), err
}

var suite = sync.OnceValues(func() ([]*scenarios.Script, error) {
	return scenarios.ReadSuite(Dialect{}, suiteFiles, "scripts")
})
