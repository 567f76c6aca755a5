package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
)

type size struct {
	Size int `json:"size"`
}

// info returns the reply to INFO, after the sample in the worker guide.
func (s *Server) info() []byte {
	n := s.store.Sizes()
	n.Queues[defaultQueue] += 0 // it is listed even if it is empty
	state := map[string]any{
		"server_utc_time": s.store.Now().UTC().Format("15:04:05 UTC"),
		"faktory": map[string]any{
			"default_size": n.Queues[defaultQueue],
			"queues":       n.Queues,
			"sets": map[string]int{
				"scheduled": n.Scheduled, "retries": n.Retries, "dead": n.Dead, "working": n.Working,
			},
			"tasks": map[string]size{
				"Busy": {n.Working}, "Dead": {n.Dead}, "Retries": {n.Retries}, "Scheduled": {n.Scheduled},
			},
			"total_enqueued":  n.Jobs,
			"total_failures":  n.Failures,
			"total_processed": n.Processed,
			"total_queues":    len(n.Queues),
		},
		"server": map[string]any{
			"command_count":   s.commands.Load(),
			"connections":     s.Connections(),
			"description":     "fakes",
			"faktory_version": "fakes",
			"uptime":          itoa(int64(time.Since(s.startTime) / time.Second)),
			"used_memory_mb":  fmt.Sprintf("%d MB", memory()>>20),
		},
	}
	if s.cfg.Extension == Faktory {
		s.addFaktoryState(state, n)
	}
	b, _ := json.Marshal(state) //nolint:errchkjson // maps of strings and numbers: it cannot fail
	return b
}

// faktoryVersion is the version of Faktory that the extension was written from.
const faktoryVersion = "1.10.0"

// addFaktoryState adds to the state what a Faktory server has in it.
func (s *Server) addFaktoryState(state map[string]any, n store.Sizes) {
	state["now"] = s.Now().UTC().Format(time.RFC3339Nano)
	tasks := map[string]map[string]any{}
	for task, size := range map[string]int{
		"Busy": n.Working, "Dead": n.Dead, "Retries": n.Retries, "Scheduled": n.Scheduled, "Workers": s.workers.count(),
	} {
		tasks[task] = map[string]any{"size": size, "reaped": 0}
	}
	for _, task := range []string{"Dead", "Retries", "Scheduled"} {
		delete(tasks[task], "reaped")
		for _, name := range []string{"cycles", "enqueued", "wall_time_sec"} {
			tasks[task][name] = 0
		}
	}
	state["faktory"].(map[string]any)["tasks"] = tasks //nolint:forcetypeassert // info has made it
	server := state["server"].(map[string]any)         //nolint:forcetypeassert // as well
	server["description"], server["faktory_version"] = "Faktory", faktoryVersion
	server["uptime"], server["used_memory_mb"] = int64(time.Since(s.startTime)/time.Second), memory()>>20
}

func memory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// newStore returns the server's store.
func (s *Server) newStore() *store.Store[*job, *Event] {
	config := store.Config[*job, *Event]{
		MaxQueueJobs: s.cfg.MaxQueueJobs, MaxQueues: s.cfg.MaxQueues, ScanEvery: s.cfg.ScanEvery,
		RetainDead: s.cfg.Extension != "", MaxBytes: s.cfg.MaxStored, Bytes: &s.cfg.Memory.storedBytes,
		Size:    func(j *job) int { return j.size },
		Enqueue: func(j *job, now time.Time) *job { return j.withMember("enqueued_at", stamp(now)) },
		Expire: failure{
			errtype: "ReservationExpired",
			message: "no ACK or FAIL was received within the time that the job was reserved for",
		}.fate(&s.cfg),
	}
	if s.cfg.Hook != nil {
		config.Policy = hooked{s}
	}
	return store.New(config)
}

// hooked is the store's policy that calls the server's hook.
type hooked struct{ s *Server }

// points maps the store's points to those of hooks.
var points = [...]Point{
	store.Postponing: Scheduled, store.ComingDue: ComingDue, store.Enqueuing: Enqueued, store.Reserving: Reserved,
	store.Returning: GivenBack, store.Finishing: Acked, store.Failing: Failed, store.Expiring: Expired,
	store.Clearing: Flushed, store.Restarting: Restarted,
}

// Ask calls the hook, and copies its changes into the step.
func (h hooked) Ask(p store.Point, step *store.Step[*job, *Event]) (skip bool) {
	e := step.Cause
	switch p {
	case store.Postponing, store.ComingDue, store.Failing, store.Expiring:
		e.Set, e.Until = string(step.Set), step.Until
	case store.Reserving:
		e.Until = step.Until
	}
	skip = h.s.ask(points[p], e, step.Job)
	switch p {
	case store.Postponing, store.ComingDue, store.Enqueuing, store.Failing, store.Expiring:
		replacement := newJob(e.Object, &h.s.cfg)
		replacement.failures = step.Job.failures
		step.Job = replacement
	}
	step.Set, step.Until, step.Front, step.Requeue = store.Set(e.Set), e.Until, e.Front, e.Requeue
	if p == store.Finishing {
		e.Requeue = false
	}
	return skip
}

// refusal returns an error of the store as a *Refusal, nil if there is none.
func refusal(err error) error {
	switch {
	case errors.Is(err, store.ErrNotHeld):
		return refuse(AboutJob, "%v", err)
	case err != nil:
		return refuse(AboutLimit, "%v", err)
	}
	return nil
}
