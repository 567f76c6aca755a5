package measure

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The comments of ours in a log, which other tools skip: of which runs it is, what a set counts outside of its
// histograms, and that the log is whole.
const (
	runComment    = " fwpbench run "
	countsComment = " fwpbench counts"
	endComment    = " fwpbench end: %d histograms"
)

// LogWriter writes sets into a file (.hlog) of the HdrHistogram log format, with the library's writer: a line for each
// set and series that has values, tagged with the series' name, and comments of ours. It is not safe for concurrent
// use.
type LogWriter struct {
	to         io.Writer
	buf        bytes.Buffer // what is about to be written
	log        *hdrhistogram.HistogramLogWriter
	start      time.Time
	histograms int
	err        error // the first; nothing is written after it
}

// NewLogWriter returns a LogWriter for runs the first of which began then, which is time 0 of the sets. Nothing is
// written before the first Write or Close.
func NewLogWriter(to io.Writer, start time.Time, runs ...string) *LogWriter {
	w := &LogWriter{to: to, start: start}
	w.log = hdrhistogram.NewHistogramLogWriter(&w.buf)
	w.keepError(w.log.OutputLogFormatVersion())
	for _, run := range runs {
		w.keepError(w.log.OutputComment(runComment + run))
	}
	w.keepError(w.log.OutputStartTime(start.UnixMilli())) // in whole seconds; the times of lines are exact and absolute
	w.keepError(w.log.OutputLegend())
	return w
}

// Write appends a set, which gets tags and times. There is one write for each set, so that a log that is read while it
// grows has whole intervals. After an error all further calls return that error.
//
// The library takes a millisecond or two for a histogram, so a loop that shares the only processor runs in between.
func (w *LogWriter) Write(s *Set) error {
	if counts := s.appendCounts(nil); len(counts) > 0 {
		w.keepError(w.log.OutputComment(countsComment + string(counts)))
	}
	for series, h := range s.Histograms() {
		h.SetTag(series.String())
		h.SetStartTimeMs(w.start.Add(s.From).UnixMilli())
		h.SetEndTimeMs(w.start.Add(s.Until).UnixMilli())
		w.keepError(w.log.OutputIntervalHistogram(h))
		w.histograms++
		runtime.Gosched()
	}
	return w.flush()
}

// Close writes the last line, which marks the log as complete. It leaves the io.Writer open.
func (w *LogWriter) Close() error {
	w.keepError(w.log.OutputComment(fmt.Sprintf(endComment, w.histograms)))
	return w.flush()
}

func (w *LogWriter) flush() error {
	_, err := w.to.Write(w.buf.Bytes())
	if w.buf.Reset(); w.err == nil {
		w.keepError(err)
	}
	return w.err
}

// keepError keeps the first error, after which nothing is written.
func (w *LogWriter) keepError(err error) {
	if w.err == nil && err != nil {
		w.err, w.to = fmt.Errorf("write histogram log: %w", err), io.Discard
	}
}
