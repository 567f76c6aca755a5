package scenarios

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// ReadSuite parses the scripts of a dialect that are kept in a folder, in the order of their names: one folder in it
// for each part of the specification. A script's name is the path below the folder without its ending,
// "fetch/many-queues". The error is that of the first script that does not parse.
func ReadSuite(d Dialect, files fs.FS, folder string) ([]*Script, error) {
	var all []*Script
	err := fs.WalkDir(files, folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".fwp") {
			return err
		}
		source, err := fs.ReadFile(files, path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, folder+"/"), ".fwp")
		s, err := Parse(d, name, source)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// Suite returns a function that reads the scripts of a dialect in the folder "scripts" at its first call, as
// [ReadSuite] does. They are parsed once, and all callers share them: none may change a script. The function is safe
// for concurrent use.
func Suite(d Dialect, files fs.FS) func() ([]*Script, error) {
	read := sync.OnceValues(func() ([]*Script, error) { return ReadSuite(d, files, "scripts") })
	return func() ([]*Script, error) {
		all, err := read()
		return slices.Clone(all), err
	}
}
