package workq

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// inspect answers what operators ask. (inspect)
func (s *Server) inspect(c workq.Command) workq.Reply {
	var records []workq.Record
	switch c.Verb {
	case workq.InspectJob:
		e := s.find(c.ID)
		if e == nil {
			return notFound()
		}
		records = []workq.Record{s.recordOf(e)}
	case workq.InspectJobs, workq.InspectScheduled:
		isScheduled := c.Verb == workq.InspectScheduled
		for _, at := range s.store.Jobs() {
			if at.Job.Name == c.Name() && (at.Set == store.Scheduled) == isScheduled && (isScheduled || at.DueTime.IsZero()) {
				records = append(records, s.recordOf(at.Job))
			}
		}
		if s.config.Reversed {
			slices.Reverse(records)
		}
		records = page(records, c)
	case workq.InspectQueue:
		records = []workq.Record{queue(c.Name(), s.lengths()[c.Name()])}
	case workq.InspectQueues:
		queues := s.lengths()
		for _, name := range slices.Sorted(maps.Keys(queues)) {
			records = append(records, queue(name, queues[name]))
		}
		records = page(records, c)
	case workq.InspectServer:
		records = []workq.Record{s.selfRecord()}
	}
	event := s.ask(Event{Point: Inspected, Command: c, Records: records})
	return workq.Reply{Counted: true, Records: event.Records}
}

// page returns so many records from an offset on.
func page(records []workq.Record, c workq.Command) []workq.Record {
	records = records[min(c.Offset, uint64(len(records))):]
	return records[:min(c.Limit, uint64(len(records)))]
}

// recordOf returns a job with its keys. (inspect job by id, Keys)
func (s *Server) recordOf(e *entry) workq.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	keys := []workq.Key{
		{Name: "name", Value: e.Name},
		{Name: "ttr", Value: number(uint64(e.TTR.Milliseconds()))}, //nolint:gosec // not negative
		{Name: "ttl", Value: number(e.lifetime())},
		{Name: "payload-size", Value: strconv.Itoa(len(e.Payload))},
		{Name: "payload", Value: string(e.Payload)},
		{Name: "max-attempts", Value: number(e.MaxAttempts)},
		{Name: "attempts", Value: number(e.attempts)},
		{Name: "max-fails", Value: number(e.MaxFails)},
		{Name: "fails", Value: number(e.fails)},
		{Name: "priority", Value: strconv.FormatInt(e.Priority, 10)},
		{Name: "state", Value: strconv.Itoa(int(e.state))},
		{Name: "created", Value: e.CreationTime.Format(time.RFC3339)},
	}
	if !e.DueTime.IsZero() {
		keys = append(keys, workq.Key{Name: "time", Value: e.DueTime.UTC().Format(time.RFC3339)})
	}
	return workq.InspectRecord(e.UUID, keys...)
}

// lifetime returns the time to live in milliseconds, as the command has it.
func (e *entry) lifetime() uint64 {
	if e.TTL == milliseconds(e.commandTTL) {
		return e.commandTTL
	}
	return uint64(e.TTL.Milliseconds()) //nolint:gosec // not negative
}

// length counts the jobs of a queue.
type length struct{ ready, scheduled int }

// lengths returns the queues that have jobs, and those that stay.
func (s *Server) lengths() map[string]length {
	all := map[string]length{}
	s.mu.Lock()
	for name := range s.names {
		all[name] = length{}
	}
	s.mu.Unlock()
	for _, at := range s.store.Jobs() {
		l := all[at.Job.Name]
		switch {
		case at.Set == store.Scheduled:
			l.scheduled++
		case at.DueTime.IsZero():
			l.ready++
		default:
			continue
		}
		all[at.Job.Name] = l
	}
	return all
}

func queue(name string, l length) workq.Record {
	return workq.InspectRecord(name, workq.Key{Name: "ready-len", Value: strconv.Itoa(l.ready)},
		workq.Key{Name: "scheduled-len", Value: strconv.Itoa(l.scheduled)})
}

// selfRecord returns what the server says of itself. (inspect server)
func (s *Server) selfRecord() workq.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return workq.InspectRecord("server", workq.Key{Name: "active-clients", Value: strconv.FormatInt(s.clients.Load(), 10)},
		workq.Key{Name: "evicted-jobs", Value: strconv.Itoa(s.evictions)},
		workq.Key{Name: "started", Value: s.startTime.UTC().Format(time.RFC3339)})
}
