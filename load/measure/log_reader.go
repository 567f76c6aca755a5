package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longestLine bounds a line, in bytes. A histogram in which each bucket has a different count takes a tenth of it.
const longestLine = 1 << 20

// LogError reports a line of a log that cannot be read.
type LogError struct {
	File string // as it was given to NewLogReader
	Line int    // from 1
	Err  error
}

// Error is "file:line: what is wrong".
func (e *LogError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns Err.
func (e *LogError) Unwrap() error { return e.Err }

// LogReader reads the sets of a log that a LogWriter wrote. It also reads such a log after another tool has rewritten
// it, as long as its tags and the ranges of its histograms are those of this package; comments may be missing. It is
// not safe for concurrent use.
//
// Histograms are decoded by the library. Its HistogramLogReader is not used for the lines: it skips those that it does
// not understand without an error, truncates times to milliseconds and knows no line numbers.
type LogReader struct {
	file  string
	lines *bufio.Scanner
	line  int
	err   error // what Next returns from now on

	start, base time.Time // of the head; zero if it has none
	intervals   int
	complete    bool
	runs        []string
	set         *Set // being read; the beginning of the next one ends it
}

// NewLogReader returns a LogReader. The file's name is for errors only.
func NewLogReader(file string, r io.Reader) *LogReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	return &LogReader{file: file, lines: lines}
}

// Start returns the time 0 of the sets. It is known after the first Next, and the zero time if the log has none.
func (r *LogReader) Start() time.Time { return r.start }

// Runs returns the runs of the log: more than one if it was merged, none if a tool left out its comments. They are
// known after the first Next.
func (r *LogReader) Runs() []string { return slices.Clone(r.runs) }

// Complete reports whether the writer of the log closed it. It is known after Next has returned io.EOF. A log that is
// not complete ends where its run was killed, or where the disk was full.
func (r *LogReader) Complete() bool { return r.complete }

// Next returns the next set, which is the caller's, with times since Start. It returns io.EOF after the last one, and a
// *LogError at the first line that is damaged; what comes before it has been returned by then, but for the set that the
// line belongs to.
func (r *LogReader) Next() (*Set, error) {
	for r.err == nil {
		if !r.lines.Scan() {
			return r.end()
		}
		r.line++
		before := r.set
		if err := r.read(r.lines.Text()); err != nil {
			r.err = &LogError{File: r.file, Line: r.line, Err: err}
			break
		}
		if before != nil && before != r.set {
			r.intervals++
			return before, nil
		}
	}
	return nil, r.err
}

// end returns the last set.
func (r *LogReader) end() (*Set, error) {
	if err := r.lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes", longestLine)
		}
		r.err = &LogError{File: r.file, Line: r.line + 1, Err: err}
		return nil, r.err
	}
	r.err = io.EOF
	if last := r.set; last != nil {
		r.set = nil
		return last, nil
	}
	return nil, r.err
}

// read reads one line.
func (r *LogReader) read(line string) error {
	switch {
	case r.complete && line != "":
		return errors.New("more after the end of the log (a file can have only one log; merge them instead)")
	case line == "", strings.HasPrefix(line, `"`): // the names of the columns
		return nil
	case strings.HasPrefix(line, "#"):
		return r.readComment(line)
	default:
		return r.readHistogram(line)
	}
}

// readComment reads the comments that have a meaning, and skips the others.
func (r *LogReader) readComment(line string) error {
	if run, is := strings.CutPrefix(line, "# "+RunComment("")); is {
		r.runs = append(r.runs, run)
		return nil
	}
	name, rest, ok := strings.Cut(line, ": ")
	if version, is := strings.CutPrefix(line, "#[Histogram log format version "); is && !strings.HasPrefix(version, "1.") {
		return fmt.Errorf("expected version 1 of the log format, got %q", strings.TrimSuffix(version, "]"))
	}
	if !ok {
		return nil
	}
	var read func(string) error
	switch name {
	case "#[StartTime":
		read = func(text string) error { return readTime(&r.start, text) }
	case "#[BaseTime":
		read = func(text string) error { return readTime(&r.base, text) }
	case "#[Interval":
		read = r.readInterval
	case "#[Complete":
		read = r.readComplete
	default:
		return nil
	}
	inside, closed := strings.CutSuffix(rest, "]")
	if !closed {
		return fmt.Errorf("expected ] at the end of %q", line)
	}
	if err := read(inside); err != nil {
		return fmt.Errorf("%s: %w", name[2:], err)
	}
	return nil
}

// readTime reads "1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015".
func readTime(t *time.Time, text string) error {
	if !t.IsZero() {
		return errors.New("a second one in the same log")
	}
	number, _, _ := strings.Cut(text, " ")
	d, err := parseSeconds(number)
	*t = epoch().Add(d)
	return err
}

// readInterval begins a set: "12.000000,1.000000 push.rejected=2".
func (r *LogReader) readInterval(text string) error {
	span, counts, _ := strings.Cut(text, " ")
	from, length, _ := strings.Cut(span, ",")
	set, err := r.begin(from, length)
	if err != nil {
		return err
	}
	if err := set.parseCounts(counts); err != nil {
		return err
	}
	r.set = set
	return nil
}

// readComplete reads "600 intervals".
func (r *LogReader) readComplete(text string) error {
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("expected a number, got %q", number)
	}
	have := r.intervals
	if r.set != nil {
		have++
	}
	if n != have {
		return fmt.Errorf("the log was written with %d intervals and has %d", n, have)
	}
	r.complete = true
	return nil
}

// readHistogram reads "Tag=push.response,0.127,1.007,2.769,HISTF...".
func (r *LogReader) readHistogram(line string) error {
	fields := strings.Split(line, ",")
	tag, tagged := strings.CutPrefix(fields[0], "Tag=")
	if len(fields) != 5 || !tagged {
		return errors.New("no line of a log of histograms, as --hlog writes it: expected Tag=NAME,START,LENGTH,MAX,HISTOGRAM")
	}
	series, ok := ParseSeries(tag)
	if !ok {
		return fmt.Errorf("unknown tag %q", tag)
	}
	set, err := r.begin(fields[1], fields[2])
	if err != nil {
		return err
	}
	if _, err := strconv.ParseFloat(fields[3], 64); err != nil {
		return fmt.Errorf("expected the interval's maximum, got %q", fields[3])
	}
	h, err := decode(fields[4])
	if err != nil {
		return fmt.Errorf("histogram of %s: %w", tag, err)
	}
	if r.set == nil || r.set.From != set.From || r.set.Until != set.Until {
		r.set = set
	}
	r.set.series(series).add(&times{histogram: h})
	return nil
}

// begin returns an empty set for the span.
func (r *LogReader) begin(from, length string) (*Set, error) {
	if r.start.IsZero() {
		return nil, errors.New("expected a StartTime before the first interval")
	}
	begins, err := parseSeconds(from)
	if err != nil {
		return nil, err
	}
	lasts, err := parseSeconds(length)
	if err != nil {
		return nil, err
	}
	// Without a BaseTime the format does not define it: a time more than a year before the start is relative.
	const year = 365 * 24 * time.Hour
	switch start := r.start.Sub(epoch()); {
	case !r.base.IsZero():
		begins += r.base.Sub(r.start)
	case begins >= start-year:
		begins -= start
	}
	return &Set{From: begins, Until: begins + lasts}, nil
}

// decode returns the histogram, if it has the buckets of this package.
func decode(text string) (*hdrhistogram.Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	if h.LowestTrackableValue() != lowest || h.HighestTrackableValue() != highest || h.SignificantFigures() != digits {
		return nil, fmt.Errorf("expected %d significant digits from %d to %d, got %d from %d to %d: its buckets cannot be "+
			"added without a loss", digits, lowest, highest,
			h.SignificantFigures(), h.LowestTrackableValue(), h.HighestTrackableValue())
	}
	return h, nil
}

func epoch() time.Time { return time.Unix(0, 0).UTC() }

// parseSeconds reads seconds with decimals, rounded to microseconds.
func parseSeconds(text string) (time.Duration, error) {
	const most = 4e9 // about the year 2096, and twice that fits into a time.Duration
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(seconds) <= most) {
		return 0, fmt.Errorf("expected seconds, got %q", text)
	}
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond, nil
}
