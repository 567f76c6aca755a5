package check

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load/plan"
)

// recordTrace is the trace of the pushed jobs that a recording writes.
type recordTrace struct {
	name   string // of its file; empty: none is written
	file   *shared.File
	jobs   *plan.TraceWriter
	isFull bool
}

// open creates the file before the recording, so that errors are reported early.
func (t *recordTrace) open() (err error) {
	if t.name == "" {
		return nil
	}
	if t.file, err = shared.OpenFile(t.name); err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	t.jobs = plan.NewTraceWriter(t.file)
	return nil
}

// jobWriter returns what writes a job; nil if no trace is written.
func (t *recordTrace) jobWriter() func(at time.Duration, queue, jobtype string, args int) {
	if t.file == nil {
		return nil
	}
	return func(at time.Duration, queue, jobtype string, args int) {
		t.isFull = !t.jobs.Job(at, queue, jobtype, args) || t.isFull
	}
}

// close moves the file to its place.
func (t *recordTrace) close(p process) error {
	if t.file == nil {
		return nil
	}
	if err := t.file.Finish(t.jobs.Close()); err != nil {
		return &shared.InternalError{Cause: fmt.Errorf("--trace: %w", err)}
	}
	cut := ""
	if t.isFull {
		cut = ", the maximum of a trace; later ones are left out"
	}
	p.Logf("%d pushed jobs are in %s%s; replay their load with fwpbench run --trace %[2]s --url URL", t.jobs.Len(),
		t.name, cut)
	return nil
}

// discard removes the file unless it is in its place.
func (t *recordTrace) discard() {
	if t.file != nil {
		t.file.Discard()
	}
}
