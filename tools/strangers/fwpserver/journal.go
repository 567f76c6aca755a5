package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A journal is a file of JSON lines; the last record of a job tells where it is.
type journal struct {
	file *os.File
	err  error // the first fault in writing
}

type record struct {
	Seq      int       `json:"-"`
	ID       int64     `json:"id,omitempty"`
	State    string    `json:"state"`
	Fields   hash      `json:"fields,omitempty"`
	Created  string    `json:"created,omitempty"`
	Enqueued time.Time `json:"enqueued,omitzero"`
	Due      time.Time `json:"due,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
	Fails    int64     `json:"fails,omitempty"`
	Failure  *failure  `json:"failure,omitempty"`
}

// note writes down where a job is now.
func (s *server) note(j *job, state string) {
	j.state = state
	if s.journal == nil {
		return
	}
	if state == "gone" {
		s.journal.add(record{ID: j.id, State: state})
		return
	}
	s.journal.add(record{
		ID: j.id, State: state, Fields: j.fields, Created: j.created, Enqueued: j.enqueued,
		Due: j.due, Deadline: j.deadline, Fails: j.fails, Failure: j.failure,
	})
}

func (s *server) noteFlush() {
	if s.journal != nil {
		s.journal.add(record{State: "flush"})
	}
}

func (jr *journal) add(r record) {
	if _, err := jr.file.WriteString(encode(r) + "\n"); err != nil && jr.err == nil {
		jr.err = err
	}
}

func (jr *journal) close() error {
	return errors.Join(jr.err, jr.file.Sync(), jr.file.Close())
}

// openJournal reads what an earlier run left, and starts a fresh file with it.
func (s *server) openJournal() error {
	if s.dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(s.dir, "jobs.jsonl")
	records, err := readJournal(name)
	if err != nil {
		return err
	}
	file, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	s.journal = &journal{file: file}
	for _, r := range records {
		s.restore(r)
	}
	return errors.Join(s.journal.err, os.Rename(name+".new", name))
}

// readJournal returns the last record of every job that is still there, oldest first.
func readJournal(name string) ([]record, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	last := map[int64]record{}
	in := bufio.NewReader(file)
	for seq := 0; ; seq++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // a last line without its end was never finished
		}
		if err != nil {
			return nil, err
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, seq+1, err)
		}
		r.Seq = seq
		switch r.State {
		case "flush":
			clear(last)
		case "gone":
			delete(last, r.ID)
		default:
			last[r.ID] = r
		}
	}
	bySeq := func(a, b record) int { return cmp.Compare(a.Seq, b.Seq) }
	return slices.SortedFunc(maps.Values(last), bySeq), nil
}

// restore puts a job back where it was.
func (s *server) restore(r record) {
	j := &job{fields: r.Fields}
	c := &conn{s: s, carried: map[string]rawJSON{}}
	for _, check := range []func(*job) error{c.required, c.routing, c.limits, c.extras} {
		_ = check(j) // it passed all of them when it was pushed
	}
	j.id, j.created, j.enqueued, j.due, j.deadline = r.ID, r.Created, r.Enqueued, r.Due, r.Deadline
	j.fails, j.failure = r.Fails, r.Failure
	switch s.mutant {
	case 79:
		reshape(j.fields, asFloat)
	case 80:
		j.fails = 0
	}
	st := &s.store
	st.lastID = max(st.lastID, j.id)
	switch r.State {
	case "scheduled":
		st.scheduled = append(st.scheduled, j)
	case "retries":
		st.retries = append(st.retries, j)
	case "dead":
		st.dead = append(st.dead, j)
	case "working":
		st.working[j.jid] = append(st.working[j.jid], j)
	default:
		q := st.queues[j.queue]
		if q == nil {
			q = &queue{}
			st.queues[j.queue] = q
		}
		q.jobs = append(q.jobs, j)
	}
	s.note(j, r.State)
}
