package check

import (
	"fmt"

	"github.com/fwpsuite/fwp/scenarios"
)

// watcher receives what happens in a run. Either may be nil.
type watcher struct {
	line func(check string, line scenarios.Line) // each line of each conversation; calls may overlap
	over func(done, total int, check string)     // a check that is over
}

// printer returns a function that writes the lines of conversations to standard error, with the check that they belong
// to if that is named. Several goroutines may call it.
func (p process) printer(named bool) func(check string, line scenarios.Line) {
	return func(check string, line scenarios.Line) {
		if named {
			_, _ = fmt.Fprintf(p.Err, "%s  %s\n", check, p.Show(line.String()))
			return
		}
		_, _ = fmt.Fprintln(p.Err, p.Show(line.String()))
	}
}
