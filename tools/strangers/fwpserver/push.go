package main

import (
	"errors"
	"strings"
)

// push takes a work unit: into its queue at once, or into the schedule.
func (c *conn) push(arg string) string {
	s := c.s
	if s.mutant == 76 && c.worker != nil && c.worker.state != "" {
		return s.errorf("PUSH: this worker is quiet")
	}
	fields, err := parseHash(arg)
	if err != nil {
		answer := s.errorf("PUSH: %v", err)
		if s.mutant == 15 && errors.Is(err, errSyntax) {
			answer = strings.TrimSuffix(answer, "\r\n") + "\n"
		}
		return answer
	}
	s.damageArgs(fields)
	j, err := c.newJob(fields)
	if err != nil {
		if s.mutant == 56 && errors.Is(err, errLate) {
			s.admit(j)
		}
		answer := s.errorf("PUSH: %v", err)
		if _, ok := fields.get("jobtype"); !ok && j.jid == "" && s.mutant == 11 {
			answer += s.errorf("PUSH: jobtype must be a string")
		}
		return answer
	}
	if s.variant == 19 && s.store.knows(j.jid) {
		return s.errorf("PUSH: jid is in use")
	}
	for _, name := range []string{"retry", "queue"} {
		if raw, ok := fields.get(name); ok {
			c.carried[name] = raw
		}
	}
	s.admit(j)
	return okReply
}

// admit stores a job that has passed all checks.
func (s *server) admit(j *job) {
	s.store.lastID++
	j.id = s.store.lastID
	if created, present, _ := j.fields.text("created_at"); present && created != "" {
		j.created = created
	} else {
		j.created = s.stamp(s.now())
	}
	delete(j.fields, "failure")
	delete(j.fields, "enqueued_at")
	if j.due.After(s.now()) {
		s.schedule(j)
		return
	}
	s.enqueue(j, false)
}

func (s *server) schedule(j *job) {
	for i, other := range s.store.scheduled {
		if s.mutant == 38 && other.due.Equal(j.due) {
			s.store.scheduled[i] = j
			return
		}
	}
	s.store.scheduled = append(s.store.scheduled, j)
	s.note(j, "scheduled")
}
