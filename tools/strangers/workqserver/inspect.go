package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// block is one entry of a reply to inspect: a title, and lines of a key and a value.
type block struct {
	title string
	lines [][2]string
	count int // the number of lines that the reply claims
}

func newBlock(title string, lines ...[2]string) block {
	return block{title: title, lines: lines, count: len(lines)}
}

// inspect answers all its forms.
func (s *server) inspect(args []string) ([]byte, error) {
	if len(args) == 0 {
		return nil, errArguments
	}
	forms := map[string]struct {
		count int
		call  func(args []string) ([]block, error)
	}{
		"job":            {1, s.inspectJob},
		"jobs":           {3, s.inspectJobs},
		"scheduled-jobs": {3, s.inspectScheduled},
		"queue":          {1, s.inspectQueue},
		"queues":         {2, s.inspectQueues},
		"server":         {0, s.inspectServer},
	}
	form, ok := forms[args[0]]
	if !ok {
		return nil, errors.New("inspect knows no such object")
	}
	if len(args)-1 != form.count {
		return nil, errArguments
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	blocks, err := form.call(args[1:])
	return s.inspectReply(blocks), err
}

func (s *server) inspectReply(blocks []block) []byte {
	plus := "+"
	if s.variant == 3 {
		plus = ""
	}
	reply := fmt.Appendf(nil, "%sOK %d\r\n", plus, len(blocks))
	for _, b := range blocks {
		reply = fmt.Appendf(reply, "%s %d\r\n", b.title, b.count)
		for _, line := range b.lines {
			reply = fmt.Appendf(reply, "%s %s\r\n", line[0], line[1])
		}
	}
	return reply
}

// describe lists the keys of a job.
func (s *server) describe(j *job) block {
	number := func(key string, n any) [2]string { return [2]string{key, fmt.Sprint(n)} }
	lines := [][2]string{
		{"name", j.name},
		number("ttr", j.ttr),
		number("ttl", j.ttl),
		number("payload-size", len(j.payload)),
		{"payload", string(j.payload)},
		number("max-attempts", j.maxAttempts),
		number("attempts", j.attempts),
		number("max-fails", j.maxFails),
		number("fails", j.fails),
		number("priority", j.priority),
		number("state", j.state),
		{"created", j.created.UTC().Format(time.RFC3339)},
	}
	if !j.at.IsZero() {
		lines = append(lines, [2]string{"time", j.at.UTC().Format(time.RFC3339)})
	}
	if s.variant == 6 {
		lines = append(lines, [2]string{"id", j.id}, number("leases", j.lease))
	}
	if s.variant == 7 {
		slices.Reverse(lines)
	}
	b := newBlock(j.id, lines...)
	if s.mutant == 39 && !j.at.IsZero() && !j.asleep {
		b.count--
	}
	return b
}

func (s *server) inspectJob(args []string) ([]block, error) {
	id, err := s.parseID(args[0])
	if err != nil {
		return nil, err
	}
	j := s.jobs[id]
	if j == nil {
		return nil, errNotFound
	}
	return []block{s.describe(j)}, nil
}

func (s *server) inspectJobs(args []string) ([]block, error) {
	return s.inspectList(args, func(q *queue) []*job { return q.ready }, false)
}

func (s *server) inspectScheduled(args []string) ([]block, error) {
	return s.inspectList(args, func(q *queue) []*job { return q.scheduled }, s.mutant == 38)
}

func (s *server) inspectList(args []string, list func(q *queue) []*job, toEnd bool) ([]block, error) {
	name, err := parseName(args[0])
	if err != nil {
		return nil, err
	}
	offset, limit, err := parsePage(args[1:])
	if err != nil {
		return nil, err
	}
	if toEnd {
		limit = max(limit, offset) - offset
	}
	var blocks []block
	if q := s.queues[name]; q != nil {
		for _, j := range page(list(q), offset, limit) {
			blocks = append(blocks, s.describe(j))
		}
	}
	return blocks, nil
}

func (s *server) inspectQueue(args []string) ([]block, error) {
	name, err := parseName(args[0])
	if err != nil {
		return nil, err
	}
	q := s.queues[name]
	if q == nil && s.variant == 11 {
		q = &queue{name: name}
	}
	if q == nil {
		return nil, errNotFound
	}
	return []block{describeQueue(q)}, nil
}

func describeQueue(q *queue) block {
	return newBlock(q.name,
		[2]string{"ready-len", fmt.Sprint(len(q.ready))},
		[2]string{"scheduled-len", fmt.Sprint(len(q.scheduled) + q.ghosts)})
}

func (s *server) inspectQueues(args []string) ([]block, error) {
	offset, limit, err := parsePage(args)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(s.order)
	slices.Sort(names)
	var blocks []block
	for _, name := range page(names, offset, limit) {
		blocks = append(blocks, describeQueue(s.queues[name]))
	}
	return blocks, nil
}

func (s *server) inspectServer([]string) ([]block, error) {
	return []block{newBlock("server",
		[2]string{"active-clients", fmt.Sprint(s.clients)},
		[2]string{"evicted-jobs", fmt.Sprint(s.evicted)},
		[2]string{"started", s.started.UTC().Format(time.RFC3339)})}, nil
}

// parsePage reads a cursor offset and a limit.
func parsePage(args []string) (offset, limit uint64, err error) {
	if offset, err = parseNumber(args[0], math.MaxUint64); err != nil {
		return 0, 0, err
	}
	limit, err = parseNumber(args[1], math.MaxUint64)
	return offset, limit, err
}

// page cuts limit entries out of a list, beginning with offset.
func page[T any](list []T, offset, limit uint64) []T {
	n := uint64(len(list))
	offset = min(offset, n)
	return list[offset : offset+min(limit, n-offset)]
}
