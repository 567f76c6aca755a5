package fwpdialect

import (
	"embed"

	"github.com/fwpsuite/fwp/scenarios"
)

//go:embed scripts
var suiteFiles embed.FS

var suite = scenarios.Suite(Dialect{}, suiteFiles)

// Suite returns the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending, "fetch/empty-queue-blocks". All callers share the scripts: none may change
// one. The error is that of the first one that does not parse, which a test of the suite would have found.
func Suite() ([]*scenarios.Script, error) { return suite() }
