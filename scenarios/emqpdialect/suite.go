package emqpdialect

import (
	"embed"

	"github.com/fwpsuite/fwp/scenarios"
)

//go:embed scripts
var suiteFiles embed.FS

// Suite parses the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending. The error is that of the first script that does not parse, which a test of
// the suite would have found.
func Suite() ([]*scenarios.Script, error) {
	return scenarios.ReadSuite(Dialect{}, suiteFiles, "scripts")
}
