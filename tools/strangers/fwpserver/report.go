package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ack ends a job that went well.
func (c *conn) ack(arg string) string {
	s := c.s
	if s.mutant == 6 {
		arg = firstHash(arg)
	}
	fields, err := parseHash(arg)
	if err != nil {
		return s.errorf("ACK: %v", err)
	}
	jid, present, err := fields.text("jid")
	if err != nil || !present {
		return s.errorf("ACK: jid must be a string")
	}
	j := s.held(jid, c)
	if j == nil {
		return s.unknownJob("ACK", jid)
	}
	if s.mutant == 63 && j.holder != c {
		return okReply
	}
	s.release(j)
	s.store.processed++
	switch {
	case s.mutant == 64 && j.fails > 0:
		s.delay(j)
		return okReply
	case s.mutant == 67:
		s.store.finished[jid] = j
	}
	if s.mutant != 78 {
		s.purge(j)
	}
	return okReply
}

// fail takes the report of a job that went wrong.
func (c *conn) fail(arg string) string {
	s := c.s
	fields, err := parseHash(arg)
	if err != nil {
		return s.errorf("FAIL: %v", err)
	}
	jid, present, err := fields.text("jid")
	if err != nil || !present {
		return s.errorf("FAIL: jid must be a string")
	}
	f, err := s.newFailure(fields)
	j := s.held(jid, c)
	if err != nil {
		if s.mutant == 65 && j != nil {
			s.release(j)
			s.failJob(j, &f)
		}
		return s.errorf("FAIL: %v", err)
	}
	if j == nil && s.mutant == 67 {
		j = s.store.finished[jid]
	}
	if j == nil {
		return s.unknownJob("FAIL", jid)
	}
	s.release(j)
	if _, told := fields.get("backtrace"); s.mutant == 33 && !told {
		s.enqueue(j, true)
		return okReply
	}
	s.failJob(j, &f)
	return okReply
}

func (s *server) unknownJob(verb, jid string) string {
	switch {
	case s.variant == 4:
		return okReply
	case s.mutant == 12:
		return "-ERR " + verb + ": no such job " + jid + "\r\n"
	}
	return s.errorf("%s: no such job %.60q", verb, jid)
}

func (s *server) newFailure(fields hash) (failure, error) {
	f := failure{At: s.now()}
	var hasType, hasMessage bool
	var err error
	if f.Type, hasType, err = fields.text("errtype"); err != nil {
		return f, err
	}
	if f.Message, hasMessage, err = fields.text("message"); err != nil {
		return f, err
	}
	if f.Backtrace, _, err = fields.texts("backtrace"); err != nil {
		return f, err
	}
	if s.variant == 28 && !(hasType && hasMessage) {
		return f, fmt.Errorf("errtype and message are needed")
	}
	if s.mutant == 66 {
		f.Message, _, _ = strings.Cut(f.Message, "\n")
	}
	return f, nil
}

// cutBacktrace keeps as many lines as the job asks for.
func (s *server) cutBacktrace(j *job, f *failure) {
	total := int64(len(f.Backtrace))
	keep := min(j.keep, total)
	_, told := j.fields.get("backtrace")
	switch {
	case s.mutant == 46 && !told:
	case s.mutant == 47:
		f.Backtrace = f.Backtrace[total-keep:]
	default:
		f.Backtrace = f.Backtrace[:keep]
	}
}

// firstHash drops what follows the first JSON value.
func firstHash(arg string) string {
	var first rawJSON
	if err := json.NewDecoder(strings.NewReader(arg)).Decode(&first); err != nil {
		return arg
	}
	return string(first)
}
