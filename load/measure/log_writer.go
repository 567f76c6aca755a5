package measure

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// LogWriter writes sets into a file (.hlog) of the HdrHistogram log format, version 1.3: one line for each set and
// series, tagged with the series' name, with times in seconds since the log's start and the histogram in compressed V2
// encoding. What a set counts outside of its histograms goes into a comment, which other tools skip:
//
//	#[Histogram log format version 1.3]
//	#[StartTime: 1790000000.250 (seconds since epoch), Mon Sep 21 14:13:20 UTC 2026]
//	#[BaseTime: 1790000000.250 (seconds since epoch)]
//	"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//	#[Interval: 0.000000,1.000000 push.rejected=2 dropped=1]
//	Tag=push.lateness,0.000000,1.000000,0.012,HISTFAAAAC542pNpmSzMwMDAygABTBBKISQRiAEAMJ4EBA==
//	#[Complete: 1 intervals]
//
// It is not safe for concurrent use. The library's HistogramLogWriter is not used: it writes the start in whole
// seconds, by which logs of several machines could not be merged; and see encoder.
type LogWriter struct {
	w         io.Writer
	buf       []byte // what Write is about to write
	encoder   encoder
	intervals int
	err       error // the first; nothing is written after it
}

// RunComment returns the comment at the top of a log that names its run; see LogReader.Runs.
func RunComment(run string) string { return "fwpbench run " + run }

// NewLogWriter returns a LogWriter for a run that began at start (kept to the millisecond), which is time 0 of the
// sets. Comments are put at the top, a line for each. Nothing is written before the first Write or Close.
func NewLogWriter(w io.Writer, start time.Time, comments ...string) *LogWriter {
	var head strings.Builder
	head.WriteString("#[Histogram log format version 1.3]\n")
	for _, comment := range comments {
		for line := range strings.Lines(comment) {
			fmt.Fprintf(&head, "# %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
	start = start.Truncate(time.Millisecond).UTC()
	seconds := fmt.Sprintf("%d.%03d", start.Unix(), start.Nanosecond()/int(time.Millisecond))
	fmt.Fprintf(&head, "#[StartTime: %s (seconds since epoch), %s]\n", seconds, start.Format(time.UnixDate))
	fmt.Fprintf(&head, "#[BaseTime: %s (seconds since epoch)]\n", seconds)
	head.WriteString(`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"` + "\n")
	return &LogWriter{w: w, buf: []byte(head.String())}
}

// Write appends a set, also an empty one. It does not keep s. There is one write for each set, so that a log that is
// read while it grows has whole intervals. After an error all further calls return that error.
func (w *LogWriter) Write(s *Set) error {
	w.buf = append(w.buf, "#[Interval: "...)
	w.buf = appendSpan(w.buf, s)
	w.buf = s.appendCounts(w.buf)
	w.buf = append(w.buf, "]\n"...)
	for series, h := range s.Histograms() {
		if err := w.appendLine(s, series, h); err != nil && w.err == nil {
			w.err = fmt.Errorf("encode histogram of %s: %w", series, err)
		}
	}
	w.intervals++
	return w.flush()
}

// Close writes the last line, which marks the log as complete. It leaves the io.Writer open.
func (w *LogWriter) Close() error {
	w.buf = fmt.Appendf(w.buf, "#[Complete: %d intervals]\n", w.intervals)
	return w.flush()
}

func (w *LogWriter) flush() error {
	if w.err == nil {
		if _, err := w.w.Write(w.buf); err != nil {
			w.err = fmt.Errorf("write histogram log: %w", err)
		}
	}
	w.buf = w.buf[:0]
	return w.err
}

// appendLine appends the line of one series.
func (w *LogWriter) appendLine(s *Set, series Series, h *hdrhistogram.Histogram) (err error) {
	w.buf = append(append(w.buf, "Tag="...), series.String()...)
	w.buf = append(w.buf, ',')
	w.buf = append(appendSpan(w.buf, s), ',')
	w.buf = strconv.AppendFloat(w.buf, float64(valueAt(h, h.TotalCount()))/float64(time.Millisecond), 'f', 3, 64)
	w.buf = append(w.buf, ',')
	w.buf, err = w.encoder.appendTo(w.buf, h)
	w.buf = append(w.buf, '\n')
	return err
}

// appendSpan appends "start,length" in seconds.
func appendSpan(dst []byte, s *Set) []byte {
	dst = append(appendSeconds(dst, s.From), ',')
	return appendSeconds(dst, s.Until.Truncate(time.Microsecond)-s.From.Truncate(time.Microsecond))
}

// appendSeconds appends d as seconds with six decimals, without rounding.
func appendSeconds(dst []byte, d time.Duration) []byte {
	us := d.Microseconds()
	if us < 0 {
		dst, us = append(dst, '-'), -us
	}
	return fmt.Appendf(dst, "%d.%06d", us/1e6, us%1e6)
}
