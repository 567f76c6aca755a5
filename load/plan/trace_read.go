package plan

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	baseyaml "github.com/fwpsuite/fwp/internal/base/yaml"
)

// ReadTrace reads a trace as CSV, whose first line names the columns: at, queue, jobtype and payload. The order of the
// lines is of no account. The file's name is for the messages only. The error joins *Problems in the order of their
// places, 100 at most.
func ReadTrace(file string, from io.Reader) (*Trace, error) {
	return readTrace(file, from, largestTrace)
}

func readTrace(file string, from io.Reader, most int64) (*Trace, error) {
	r := traceReader{
		problems: baseyaml.Problems{File: file}, trace: new(Trace), names: [traceWidth]map[string]uint16{{}, {}, {}, {}},
	}
	limited := &io.LimitedReader{R: from, N: most + 1}
	if err := r.csv(limited); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("read %s: it has more than %d bytes, the limit; split it", file, most)
	}
	if len(r.trace.jobs) == 0 && r.problems.Err() == nil {
		r.report(1, 1, "", "there are no jobs", "a line for each", "is it the right file?")
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	r.trace.ended()
	return r.trace, nil
}

// cell is a value of a trace, and where it stands.
type cell struct {
	text         string
	line, column int
}

type traceReader struct {
	problems baseyaml.Problems
	trace    *Trace
	there    [traceWidth]bool // the columns that the file has
	names    [traceWidth]map[string]uint16
	start    time.Time // of times with a date: that of the first job
	dated    bool      // times have a date
	stopped  bool      // there is no use in reading on
}

func (r *traceReader) report(line, column int, key, what, expected, do string) {
	r.problems.Report(baseyaml.Place{Line: line, Column: column},
		&Problem{Key: key, What: what, Expected: expected, Do: do})
	r.stopped = r.stopped || r.problems.Full()
}

// csv reads comma-separated values. The error is one of reading.
func (r *traceReader) csv(in io.Reader) error {
	rows := csv.NewReader(in)
	rows.ReuseRecord = true
	var columns []int
	for first := true; !r.stopped; first = false {
		values, err := rows.Read()
		if wrong, is := errors.AsType[*csv.ParseError](err); is {
			r.report(wrong.Line, wrong.Column, "", wrong.Err.Error(), "a line of comma-separated values like the first line",
				"look at this line")
			return nil
		}
		if err != nil {
			return err
		}
		var cells [traceWidth]cell
		for i, value := range values {
			c := cell{text: value}
			c.line, c.column = rows.FieldPos(i)
			switch {
			case first:
				columns = append(columns, r.column(value, c.line, c.column))
			case columns[i] >= 0:
				cells[columns[i]] = c
			}
		}
		line, _ := rows.FieldPos(0)
		if !first {
			r.job(line, &cells)
		} else if !r.there[traceAt] {
			r.report(line, 1, "at", "there is no such column", "a first line as in "+strings.Join(traceColumns[:], ","),
				"name the columns in the first line")
			return nil
		}
	}
	return nil
}

// column returns which column has a name, -1 if none has, and notes that it is there.
func (r *traceReader) column(name string, line, column int) int {
	i := slices.Index(traceColumns[:], name)
	switch {
	case i < 0:
		r.report(line, column, "", "unknown column "+strconv.Quote(text.Brief(name, 100)),
			"one of "+strings.Join(traceColumns[:], ", "), advise(name, traceColumns[:], "remove it"))
	case r.there[i]:
		r.report(line, column, name, "duplicate column", "it once", "remove one of them")
	default:
		r.there[i] = true
	}
	return i
}

// job adds the job of a line.
func (r *traceReader) job(line int, cells *[traceWidth]cell) {
	var job traced
	t := r.trace
	for i, there := range r.there {
		if !there {
			continue
		}
		c, err := &cells[i], error(nil)
		switch i {
		case traceAt:
			job.at, err = r.time(c.text)
		case traceQueue:
			job.queue, err = r.name(c.text, i, &t.Queues)
		case traceType:
			job.jobtype, err = r.name(c.text, i, &t.Types)
		case tracePayload:
			var n int64
			n, err = parseInt(c.text, 0, MaxPayload)
			job.payload, t.payloads, t.largest = int32(n), true, max(t.largest, int(n))
		}
		if p := problemOf(err); p != nil {
			r.report(c.line, c.column, traceColumns[i], p.What, p.Expected, p.Do)
		}
	}
	if len(t.jobs) == mostTraced {
		r.report(line, 1, "", "there are too many jobs", fmt.Sprintf("%d or fewer", mostTraced), "split the file")
		r.stopped = true
		return
	}
	t.jobs = append(t.jobs, job)
}

// time returns a time since any moment, which is the same for all.
func (r *traceReader) time(text string) (time.Duration, error) {
	const expected = "seconds, as in 12.5, or a time, as in 2026-01-31T15:04:05.123Z; the same kind in all lines, " +
		"within 1000h"
	seconds, err := strconv.ParseFloat(text, 64)
	at := time.Duration(math.Round(seconds * 1e9))
	dated, moment := err != nil, time.Unix(0, 0)
	if dated {
		moment, err = time.Parse(time.RFC3339, text)
		at = 0
	}
	if err != nil || !(math.Abs(seconds) < 9e9) {
		return 0, bad(text, "is not a valid time", expected, "write it like that")
	}
	if len(r.trace.jobs) == 0 {
		r.start, r.dated = moment.Add(at), dated
	}
	if dated != r.dated {
		return 0, bad(text, "is not the same kind of time as in the lines before", expected, "use one kind in all lines")
	}
	at = moment.Add(at).Sub(r.start)
	if at.Abs() > longest {
		return 0, bad(text, "is more than 1000h away from the first time", expected, "is it the right unit?")
	}
	return at, nil
}

// name returns the index of the name of a queue or type, which are bounded.
func (r *traceReader) name(name string, column int, list *[]string) (uint16, error) {
	if i, known := r.names[column][name]; known {
		return i, nil
	}
	if _, err := parseJobType(name); err != nil {
		return 0, bad(text.Brief(name, 100), "is not a valid name", "1 to 200 bytes of text without control characters",
			"give it a name, or remove the column")
	}
	if len(*list) == mostQueues {
		return 0, bad(name, "exceeds the limit of names", fmt.Sprintf("at most %d names", mostQueues), "remove the column")
	}
	i := uint16(len(*list))
	r.names[column][name] = i
	*list = append(*list, name)
	return i, nil
}
