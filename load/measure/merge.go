package measure

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Merge adds up all sets of the logs, bucket by bucket and count by count, and returns the sum, with the ops in the
// order of Ops and any others behind them. Times are since the earliest start of the logs. If w is not nil it gets a
// log with a set for each second in which sets of the logs begin: the seconds of runs side by side are added up.
// Merging that log gives the same sum.
//
// Sets are read when they are needed, so that logs of any length take the memory of a few of them. An error of reading
// is a *LogError, with file and line. A log without a set is an error, and so is a run that is in two of the logs,
// because it would count twice. The caller has to check whether the logs were complete (LogReader.Complete).
func Merge(w io.Writer, logs ...*LogReader) (*Set, error) {
	sources, start, err := open(logs)
	if err != nil {
		return nil, err
	}
	runs, err := different(logs)
	if err != nil {
		return nil, err
	}
	m := merger{total: newSet(Ops()), second: newSet(Ops())}
	if w != nil {
		comments := []string{fmt.Sprintf("merged from %d logs", len(logs))}
		for _, run := range runs {
			comments = append(comments, RunComment(run))
		}
		m.log = NewLogWriter(w, start, comments...)
	}
	for source := earliest(sources); source != nil; source = earliest(sources) {
		if err := m.add(source.next); err != nil {
			return nil, err
		}
		if err := source.advance(); err != nil {
			return nil, err
		}
	}
	return m.total, m.close()
}

// different returns the runs of the logs, whose heads have been read.
func different(logs []*LogReader) (runs []string, err error) {
	file := make(map[string]string)
	for _, log := range logs {
		for _, run := range log.Runs() {
			if other, known := file[run]; known {
				return nil, fmt.Errorf("run %s is in %s and in %s: it would count twice", run, other, log.file)
			}
			file[run] = log.file
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// source is a log and its next set, nil after the last.
type source struct {
	log   *LogReader
	shift time.Duration // from the log's start to that of all
	next  *Set
}

// open reads the first set of each log, and with it the log's start.
func open(logs []*LogReader) (sources []*source, start time.Time, err error) {
	for _, log := range logs {
		s := &source{log: log}
		if err := s.advance(); err != nil {
			return nil, time.Time{}, err
		}
		if s.next == nil {
			return nil, time.Time{}, fmt.Errorf("%s has no intervals: is it a log of fwpbench run --hlog?", log.file)
		}
		if begun := log.Start(); start.IsZero() || begun.Before(start) {
			start = begun
		}
		sources = append(sources, s)
	}
	for _, s := range sources {
		s.shift = s.log.Start().Sub(start)
		s.next.move(s.shift)
	}
	return sources, start, nil
}

// advance reads the next set.
func (s *source) advance() (err error) {
	if s.next, err = s.log.Next(); err == nil {
		s.next.move(s.shift)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// earliest returns the source whose next set begins first, nil if all are at their end.
func earliest(sources []*source) *source {
	var first *source
	for _, s := range sources {
		if s.next != nil && (first == nil || s.next.From < first.next.From) {
			first = s
		}
	}
	return first
}

func (s *Set) move(by time.Duration) { s.From, s.Until = s.From+by, s.Until+by }

// merger gathers the sets that begin in the same second.
type merger struct {
	total, second *Set
	filled        bool // second holds something
	log           *LogWriter
}

func (m *merger) add(s *Set) error {
	m.total.Add(s)
	if m.log == nil {
		return nil
	}
	if m.filled && m.second.From/time.Second != s.From/time.Second {
		if err := m.flush(); err != nil {
			return err
		}
	}
	m.second.Add(s)
	m.filled = true
	return nil
}

func (m *merger) flush() error {
	err := m.log.Write(m.second)
	m.second.Reset()
	m.filled = false
	return err
}

func (m *merger) close() error {
	if m.log == nil {
		return nil
	}
	if m.filled {
		_ = m.flush() // Close returns its error
	}
	return m.log.Close()
}
