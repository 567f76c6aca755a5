package workload

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/internal/yamlfile"
)

// ReadTrace reads a trace as CSV, whose first line names the columns, or as JSON lines, an object for each job with the
// same keys: at, queue, jobtype and payload. The order of the lines is of no account. The file's name is for the
// messages only. The error joins *Problems in the order of their places, 100 at most.
func ReadTrace(file string, from io.Reader) (*Trace, error) {
	return readTrace(file, from, largestTrace)
}

func readTrace(file string, from io.Reader, most int64) (*Trace, error) {
	r := traceReader{
		problems: yamlfile.Problems{File: file}, trace: new(Trace), names: [traceWidth]map[string]uint16{{}, {}, {}, {}},
	}
	limited := &io.LimitedReader{R: from, N: most + 1}
	in := bufio.NewReader(limited)
	first, err := in.Peek(1)
	switch {
	case len(first) == 1 && first[0] == '{':
		err = r.lines(in)
	case len(first) == 1:
		err = r.csv(in)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("read %s: it has more than %d bytes, which is the most that is read; split it", file, most)
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
	there        bool
}

type traceReader struct {
	problems yamlfile.Problems
	trace    *Trace
	there    [traceWidth]bool // the columns that the file has
	names    [traceWidth]map[string]uint16
	start    time.Time // of times with a date: that of the first job
	dated    bool      // times have a date
	stopped  bool      // there is no use in reading on
}

func (r *traceReader) report(line, column int, key, what, expected, do string) {
	r.problems.Report(yamlfile.Place{Line: line, Column: column},
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
			r.report(wrong.Line, wrong.Column, "", wrong.Err.Error(), "a line of comma-separated values as the first one is",
				"look at this line")
			return nil
		}
		if err != nil {
			return err
		}
		var cells [traceWidth]cell
		for i, value := range values {
			c := cell{text: value, there: true}
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
		r.report(line, column, name, "the column is there twice", "it once", "remove one of them")
	default:
		r.there[i] = true
	}
	return i
}

// lines reads JSON lines.
func (r *traceReader) lines(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxSource)
	for n := 1; !r.stopped && lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			r.object(n, lines.Bytes(), n == 1)
		}
	}
	return lines.Err()
}

// object reads a line of JSON. The columns are those of the first one.
func (r *traceReader) object(line int, source []byte, first bool) {
	var cells [traceWidth]cell
	s := scanner{text: source}
	s.need('{')
	for more := true; s.more(more, '}'); more = false {
		s.peek()
		at := s.at
		key := string(s.str())
		s.need(':')
		c := cell{there: true, line: line}
		quoted := s.peek() == '"'
		c.column = s.at + 1
		if quoted {
			c.text = string(s.str())
		} else {
			from := s.at
			s.skip(1)
			c.text = string(s.text[from:s.at])
		}
		i := slices.Index(traceColumns[:], key)
		if s.what == "" && (first || i < 0 || cells[i].there) {
			i = r.column(key, line, at+1)
		}
		if s.what == "" && i >= 0 {
			cells[i] = c
		}
	}
	if s.peek(); s.what == "" && s.at < len(s.text) {
		s.fail("expected nothing after the object")
	}
	if s.what != "" {
		r.report(line, s.at+1, "", "this is not JSON", strings.TrimPrefix(s.what, "expected "),
			"write an object in each line")
		return
	}
	r.job(line, &cells)
}

// job adds the job of a line.
func (r *traceReader) job(line int, cells *[traceWidth]cell) {
	var job traced
	t := r.trace
	for i, there := range r.there {
		c := &cells[i]
		if !there && !c.there {
			if i == traceAt {
				r.report(line, 1, "at", "there is none", "when the job was pushed, in each line", "add it")
			}
			continue
		}
		if there != c.there {
			r.report(line, max(1, c.column), traceColumns[i], "not all lines have it", "the same in each as in the first line",
				"add it, or remove it everywhere")
			continue
		}
		var err error
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
	const expected = "seconds, as in 12.5, or a time, as in 2026-01-31T15:04:05.123Z; the same in all lines, within 1000h"
	seconds, err := strconv.ParseFloat(text, 64)
	at := time.Duration(math.Round(seconds * 1e9))
	dated, moment := err != nil, time.Unix(0, 0)
	if dated {
		moment, err = time.Parse(time.RFC3339, text)
		at = 0
	}
	if err != nil || !(math.Abs(seconds) < 9e9) {
		return 0, bad(text, "is not a valid time", expected, "write it so")
	}
	if len(r.trace.jobs) == 0 {
		r.start, r.dated = moment.Add(at), dated
	}
	if dated != r.dated {
		return 0, bad(text, "is another kind of time than that of the lines before", expected, "write all in one way")
	}
	at = moment.Add(at).Sub(r.start)
	if at.Abs() > longest {
		return 0, bad(text, "is too far from the first time", expected, "is it the right unit?")
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
			"give it one, or leave out the column")
	}
	if len(*list) == mostQueues {
		return 0, bad(name, "is one too many", fmt.Sprintf("%d names or fewer", mostQueues), "leave out the column")
	}
	i := uint16(len(*list))
	r.names[column][name] = i
	*list = append(*list, name)
	return i, nil
}
