package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
)

// benchFiles are the files that a run writes beside its report. The first error of each is kept and returned at the
// end: a full disk does not cost the report. Existing files keep their contents until the new ones are complete.
type benchFiles struct {
	hlog, series, history *shared.File // nil: not asked for
	log                   *measure.LogWriter
	hgrm                  string
	errs                  []error
}

// open creates the files before any load, so that errors are reported early.
func (o *benchOptions) open() (_ *benchFiles, err error) {
	f := &benchFiles{hgrm: o.hgrm}
	defer func() {
		if err != nil {
			f.Discard()
		}
	}()
	if f.hgrm != "" {
		if err := os.MkdirAll(f.hgrm, 0o755); err != nil { //nolint:gosec // percentiles are no secret
			return nil, fmt.Errorf("--hgrm: %w", err)
		}
		series := measure.SeriesOf(measure.Push, measure.Response)
		probe, err := shared.OpenFile(filepath.Join(f.hgrm, series.String()+".hgrm"))
		if err != nil {
			return nil, fmt.Errorf("--hgrm: %w", err)
		}
		probe.Discard()
	}
	for _, file := range []struct {
		flag, name string
		out        **shared.File
	}{{"--csv", o.series, &f.series}, {"--history", o.history, &f.history}, {"--hlog", o.hlog, &f.hlog}} {
		if file.name == "" {
			continue
		}
		if *file.out, err = shared.OpenFile(file.name); err != nil {
			return nil, fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return f, nil
}

// watch returns what is called each second: it writes the histograms, and shows the figures.
func (f *benchFiles) watch(live *live) func(load.Progress) {
	return func(m load.Progress) {
		f.writeHistograms(m)
		live.show(m)
	}
}

// writeHistograms writes the histograms of a second.
func (f *benchFiles) writeHistograms(m load.Progress) {
	if f.hlog == nil {
		return
	}
	if f.log == nil {
		f.log = measure.NewLogWriter(f.hlog, m.Began, m.Run)
	}
	_ = f.log.Write(m.Set) // Close returns the same error again
}

// close writes the files of the whole run, moves all to their places, and returns what went wrong. A run that did not
// begin writes nothing. hide replaces secrets in what jobs had instead of what was pushed; jids stay as they are,
// because they tell jobs apart.
func (f *benchFiles) close(result *load.Result, hide func(string) string) error {
	defer f.Discard()
	if result.Total == nil {
		return nil
	}
	if f.log != nil {
		f.keep("--hlog", f.hlog.Finish(f.log.Close()))
	}
	if f.hgrm != "" {
		f.percentiles(result.Total)
	}
	if f.series != nil {
		f.keep("--csv", f.series.Finish(results.WriteSeriesCSV(f.series, result.Report)))
	}
	if f.history != nil && result.History != nil {
		for i := range result.History.Events {
			e := &result.History.Events[i]
			e.Body = hide(e.Body)
		}
		f.keep("--history", f.history.Finish(result.History.Save(f.history)))
	}
	return errors.Join(f.errs...)
}

// Discard removes the files that are not in their places.
func (f *benchFiles) Discard() {
	for _, file := range []*shared.File{f.hlog, f.series, f.history} {
		if file != nil {
			file.Discard()
		}
	}
}

func (f *benchFiles) keep(flag string, err error) {
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s: %w", flag, err))
	}
}

// percentiles writes a file for every series that has values.
func (f *benchFiles) percentiles(total *measure.Set) {
	for series := range total.Histograms() {
		name := filepath.Join(f.hgrm, series.String()+".hgrm")
		write := func(w io.Writer) error { return measure.WritePercentiles(w, total, series) }
		f.keep("--hgrm", shared.ReplaceFile(name, write))
	}
}
