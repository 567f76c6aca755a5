package fwpdialect

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/fwpsuite/fwp/scenarios"
)

//go:embed scripts
var suiteFiles embed.FS

// suiteFolder is where the scripts of the suite are kept, one folder for each
// part of the specification.
const suiteFolder = "scripts"

// Suite parses the scripts that come with the suite, in the order of their
// names. A script's name is its check id: the folder and the file without its
// ending, "fetch/empty-queue-blocks". The error is that of the first script
// that does not parse, which a test of the suite would have found.
func Suite() ([]*scenarios.Script, error) {
	var all []*scenarios.Script
	err := fs.WalkDir(suiteFiles, suiteFolder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".fwp") {
			return err
		}
		source, err := suiteFiles.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, suiteFolder+"/"), ".fwp")
		s, err := scenarios.Parse(Dialect{}, name, source)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}
