package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/reports"
)

// benchFiles are the files that a run fills beside its report. The first error of
// each is kept and told at the end: a full disk costs no figure that the report has.
type benchFiles struct {
	hlog    *os.File
	log     *measure.LogWriter
	hgrm    string
	series  string
	history string
	wrong   []error
}

// open makes the files, before any load is put on a server: what cannot be written
// is better known now.
func (o *benchOptions) open() (*benchFiles, error) {
	f := &benchFiles{hgrm: o.hgrm, series: o.series, history: o.history}
	if f.hgrm != "" {
		if err := os.MkdirAll(f.hgrm, 0o755); err != nil { //nolint:gosec // percentiles are no secret
			return nil, fmt.Errorf("--hgrm: %w", err)
		}
	}
	if f.series != "" {
		if err := create(f.series, func(io.Writer) error { return nil }); err != nil {
			return nil, fmt.Errorf("--csv: %w", err)
		}
	}
	if f.history != "" {
		if err := os.WriteFile(f.history, nil, 0o644); err != nil { //nolint:gosec // nor this
			return nil, fmt.Errorf("--history: %w", err)
		}
	}
	if o.hlog == "" {
		return f, nil
	}
	var err error
	if f.hlog, err = os.Create(o.hlog); err != nil {
		return nil, fmt.Errorf("--hlog: %w", err)
	}
	return f, nil
}

// second writes what a second has brought.
func (f *benchFiles) second(m load.Moment) {
	if f.hlog == nil {
		return
	}
	if f.log == nil {
		f.log = measure.NewLogWriter(f.hlog, m.Began, "fwpbench run "+m.Run)
	}
	_ = f.log.Write(m.Set) // it gives the same error again when it is closed
}

// close writes what is known at the end, and tells all that went wrong.
func (f *benchFiles) close(result *load.Result) error {
	if f.log != nil {
		f.keep("--hlog", f.log.Close())
	}
	if f.hlog != nil {
		f.keep("--hlog", f.hlog.Close())
	}
	if f.hgrm != "" {
		f.percentiles(result.Total)
	}
	if f.series != "" {
		f.keep("--csv", create(f.series, func(w io.Writer) error { return reports.WriteSeriesCSV(w, result.Report) }))
	}
	if f.history != "" && result.History != nil {
		f.keep("--history", create(f.history, result.History.Save))
	}
	return errors.Join(f.wrong...)
}

func (f *benchFiles) keep(flag string, err error) {
	if err != nil {
		f.wrong = append(f.wrong, fmt.Errorf("%s: %w", flag, err))
	}
}

// percentiles writes a file for every series that has values.
func (f *benchFiles) percentiles(total *measure.Set) {
	if total == nil {
		return
	}
	for series := range total.Histograms() {
		name := filepath.Join(f.hgrm, series.String()+".hgrm")
		f.keep("--hgrm", create(name, func(w io.Writer) error { return measure.WritePercentiles(w, total, series) }))
	}
}

// create writes a file.
func create(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
