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
	return readTrace(file, from, maxTraceSize)
}

func readTrace(file string, from io.Reader, limit int64) (*Trace, error) {
	r := traceReader{
		problems: baseyaml.Problems{File: file}, trace: new(Trace), names: [traceWidth]map[string]uint16{{}, {}, {}, {}},
	}
	limitReader := &io.LimitedReader{R: from, N: limit + 1}
	if err := r.readCSV(limitReader); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if limitReader.N <= 0 {
		return nil, fmt.Errorf("read %s: it has more than %d bytes, the limit; split it", file, limit)
	}
	if len(r.trace.jobs) == 0 && r.problems.Err() == nil {
		r.report(1, 1, "", "there are no jobs", "a line for each", "is it the right file?")
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	r.trace.sortJobs()
	return r.trace, nil
}

// cell is a value of a trace, and where it stands.
type cell struct {
	text         string
	line, column int
}

type traceReader struct {
	problems  baseyaml.Problems
	trace     *Trace
	hasColumn [traceWidth]bool // the columns that the file has
	names     [traceWidth]map[string]uint16
	start     time.Time // of times with a date: that of the first job
	hasDates  bool      // times have a date
	isStopped bool      // there is no use in reading on
}

func (r *traceReader) report(line, column int, key, message, expected, do string) {
	r.problems.Report(baseyaml.Place{Line: line, Column: column},
		&Problem{Key: key, Description: message, Expected: expected, Do: do})
	r.isStopped = r.isStopped || r.problems.IsFull()
}

// readCSV reads comma-separated values. The error is one of reading.
func (r *traceReader) readCSV(in io.Reader) error {
	rows := csv.NewReader(in)
	rows.ReuseRecord = true
	var columns []int
	for isFirst := true; !r.isStopped; isFirst = false {
		values, err := rows.Read()
		if parseErr, ok := errors.AsType[*csv.ParseError](err); ok {
			r.report(parseErr.Line, parseErr.Column, "", parseErr.Err.Error(),
				"a line of comma-separated values like the first line",
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
			case isFirst:
				columns = append(columns, r.addColumn(value, c.line, c.column))
			case columns[i] >= 0:
				cells[columns[i]] = c
			}
		}
		line, _ := rows.FieldPos(0)
		if !isFirst {
			r.addJob(line, &cells)
		} else if !r.hasColumn[traceAt] {
			r.report(line, 1, "at", "there is no such column", "a first line as in "+strings.Join(traceColumns[:], ","),
				"name the columns in the first line")
			return nil
		}
	}
	return nil
}

// addColumn returns which column has a name, -1 if none has, and notes that it is there.
func (r *traceReader) addColumn(name string, line, column int) int {
	i := slices.Index(traceColumns[:], name)
	switch {
	case i < 0:
		r.report(line, column, "", "unknown column "+strconv.Quote(text.Brief(name, 100)),
			"one of "+strings.Join(traceColumns[:], ", "), advise(name, traceColumns[:], "remove it"))
	case r.hasColumn[i]:
		r.report(line, column, name, "duplicate column", "it once", "remove one of them")
	default:
		r.hasColumn[i] = true
	}
	return i
}

// addJob adds the job of a line.
func (r *traceReader) addJob(line int, cells *[traceWidth]cell) {
	var job traced
	t := r.trace
	for i, ok := range r.hasColumn {
		if !ok {
			continue
		}
		c, err := &cells[i], error(nil)
		switch i {
		case traceAt:
			job.at, err = r.parseTime(c.text)
		case traceQueue:
			job.queue, err = r.nameIndex(c.text, i, &t.Queues)
		case traceType:
			job.jobtype, err = r.nameIndex(c.text, i, &t.Types)
		case tracePayload:
			var n int64
			n, err = parseInt(c.text, 0, MaxPayload)
			job.payload, t.hasPayloads, t.largestPayload = int32(n), true, max(t.largestPayload, int(n))
		}
		if p := problemOf(err); p != nil {
			r.report(c.line, c.column, traceColumns[i], p.Description, p.Expected, p.Do)
		}
	}
	if len(t.jobs) == maxTraceJobs {
		r.report(line, 1, "", "there are too many jobs", fmt.Sprintf("%d or fewer", maxTraceJobs), "split the file")
		r.isStopped = true
		return
	}
	t.jobs = append(t.jobs, job)
}

// parseTime returns a time since any moment, which is the same for all.
func (r *traceReader) parseTime(text string) (time.Duration, error) {
	const expected = "seconds, as in 12.5, or a time, as in 2026-01-31T15:04:05.123Z; the same kind in all lines, " +
		"within 1000h"
	seconds, err := strconv.ParseFloat(text, 64)
	at := time.Duration(math.Round(seconds * 1e9))
	hasDate, moment := err != nil, time.Unix(0, 0)
	if hasDate {
		moment, err = time.Parse(time.RFC3339, text)
		at = 0
	}
	if err != nil || !(math.Abs(seconds) < 9e9) {
		return 0, newProblem(text, "is not a valid time", expected, "write it like that")
	}
	if len(r.trace.jobs) == 0 {
		r.start, r.hasDates = moment.Add(at), hasDate
	}
	if hasDate != r.hasDates {
		return 0, newProblem(text, "is not the same kind of time as in the lines before", expected,
			"use one kind in all lines")
	}
	at = moment.Add(at).Sub(r.start)
	if at.Abs() > maxDuration {
		return 0, newProblem(text, "is more than 1000h away from the first time", expected, "is it the right unit?")
	}
	return at, nil
}

// nameIndex returns the index of the name of a queue or type, which are bounded.
func (r *traceReader) nameIndex(name string, column int, list *[]string) (uint16, error) {
	if i, ok := r.names[column][name]; ok {
		return i, nil
	}
	if _, err := parseJobType(name); err != nil {
		return 0, newProblem(text.Brief(name, 100), "is not a valid name",
			"1 to 200 bytes of text without control characters",
			"give it a name, or remove the column")
	}
	if len(*list) == maxQueues {
		return 0, newProblem(name, "exceeds the limit of names", fmt.Sprintf("at most %d names", maxQueues),
			"remove the column")
	}
	i := uint16(len(*list))
	r.names[column][name] = i
	*list = append(*list, name)
	return i, nil
}
