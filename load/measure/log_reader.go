package measure

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longestLine bounds a line of a log, in bytes. A histogram in which each bucket has a different count takes a tenth of
// it.
const longestLine = 1 << 20

// LogError reports a line of a log that cannot be read.
type LogError struct {
	File string // as it was given to ReadLog
	Line int    // from 1
	Err  error
}

// Error is "file:line: what is wrong".
func (e *LogError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns Err.
func (e *LogError) Unwrap() error { return e.Err }

// Log is what a log has, or several that were added up.
type Log struct {
	File       string
	Runs       []string  // none if a tool left out the comments of fwpbench
	Start      time.Time // of the first set
	IsComplete bool      // its writer closed it: if not, it ends where its run was killed, or where the disk was full
	Total      *Set      // the sum of its sets, in time since Start
}

// ReadLog reads a log that a LogWriter wrote, also after another tool has rewritten it, as long as its tags and the
// ranges of its histograms are those of this package. The file's name is for errors only, which are *LogError.
//
// The library skips lines that it does not understand; here they are errors, because the sum would have a hole.
func ReadLog(file string, from io.Reader) (*Log, error) {
	log := &Log{File: file, Total: newSet(Ops())}
	lines := &lines{scan: bufio.NewScanner(from), log: log}
	lines.scan.Buffer(nil, longestLine)
	reader := hdrhistogram.NewHistogramLogReader(lines)
	var end time.Time
	for read := 1; ; read++ {
		h, err := reader.NextIntervalHistogram()
		switch {
		case err == nil && h == nil && lines.histograms < read:
			return log, log.finish(lines, end)
		case err == nil && (h == nil || lines.histograms != read):
			err = errNoHistogram
		case err == nil:
			err = log.add(h)
		}
		if err != nil {
			return nil, &LogError{File: file, Line: lines.number, Err: err}
		}
		if from := time.UnixMilli(h.StartTimeMs()); log.Start.IsZero() || from.Before(log.Start) {
			log.Start = from
		}
		if until := time.UnixMilli(h.EndTimeMs()); until.After(end) {
			end = until
		}
	}
}

var errNoHistogram = errors.New("this is not a line of a histogram log (--hlog): expected " +
	"Tag=NAME,START,LENGTH,MAX,HISTOGRAM")

// finish sets the span of the sum.
func (l *Log) finish(lines *lines, end time.Time) error {
	if lines.histograms == 0 && !l.IsComplete {
		return fmt.Errorf("%s has no histograms: is it a log of fwpbench run --hlog?", l.File)
	}
	l.Total.From, l.Total.Until = 0, end.Sub(l.Start)
	return nil
}

// add adds a histogram, if it has the buckets of this package.
func (l *Log) add(h *hdrhistogram.Histogram) error {
	series, ok := ParseSeries(h.Tag())
	switch {
	case !ok:
		return fmt.Errorf("unknown tag %q", h.Tag())
	case h.LowestTrackableValue() != lowest || h.HighestTrackableValue() != highest || h.SignificantFigures() != digits:
		return fmt.Errorf("histogram of %s: expected %d significant digits from %d to %d, got %d from %d to %d: the "+
			"buckets cannot be added exactly", h.Tag(), digits, lowest, highest,
			h.SignificantFigures(), h.LowestTrackableValue(), h.HighestTrackableValue())
	case series.isUnanswered:
		l.Total.series(series).add(&seriesData{waits: h})
	default:
		l.Total.series(series).add(&seriesData{histogram: h})
	}
	return nil
}

// lines passes the lines of a log on to the library, one with each Read, and reads the comments of ours.
type lines struct {
	scan       *bufio.Scanner
	rest       []byte // of the line
	number     int    // of the line, from 1
	histograms int    // how many lines must have one
	log        *Log
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		if !l.scan.Scan() {
			return 0, cmp.Or(l.scan.Err(), io.EOF)
		}
		l.number++
		if err := l.line(l.scan.Text()); err != nil {
			return 0, err
		}
		l.rest = append(l.rest[:0], l.scan.Bytes()...)
		l.rest = append(l.rest, '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads a line if it is a comment of ours, and counts it if it has to be a histogram.
func (l *lines) line(text string) (err error) {
	run, isRun := strings.CutPrefix(text, "#"+runComment)
	counts, areCounts := strings.CutPrefix(text, "#"+countsComment)
	end := 0
	switch {
	case l.log.IsComplete && text != "":
		return errors.New("data after the end of the log (a file can have only one log; fwpbench merge takes " +
			"several files)")
	case isRun:
		l.log.Runs = append(l.log.Runs, run)
	case areCounts:
		return l.log.Total.parseCounts(counts)
	case strings.HasPrefix(text, "#"):
		_, scanErr := fmt.Sscanf(text, "#"+endComment, &end)
		if l.log.IsComplete = scanErr == nil; l.log.IsComplete && end != l.histograms {
			err = fmt.Errorf("the log should have %d histograms and has %d", end, l.histograms)
		}
	case text != "" && !strings.HasPrefix(text, `"`): // that has the names of the columns
		l.histograms++
	}
	return err
}

// Merge adds up logs, bucket by bucket and count by count. A run that is in two of them is an error, because it would
// count twice.
func Merge(logs ...*Log) (*Log, error) {
	sum := &Log{Total: newSet(Ops()), IsComplete: true}
	var end time.Time
	file := make(map[string]string)
	for _, log := range logs {
		for _, run := range log.Runs {
			if other, ok := file[run]; ok {
				return nil, fmt.Errorf("run %s is in %s and in %s: it would count twice", run, other, log.File)
			}
			file[run] = log.File
			sum.Runs = append(sum.Runs, run)
		}
		sum.Total.Add(log.Total)
		sum.IsComplete = sum.IsComplete && log.IsComplete
		if sum.Start.IsZero() || log.Start.Before(sum.Start) {
			sum.Start = log.Start
		}
		if until := log.Start.Add(log.Total.Until); until.After(end) {
			end = until
		}
	}
	sum.Total.From, sum.Total.Until = 0, end.Sub(sum.Start)
	return sum, nil
}
