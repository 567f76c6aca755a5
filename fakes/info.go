package fakes

import (
	"encoding/json"
	"fmt"
	"runtime/metrics"
	"time"
)

// sizes counts what the store holds.
type sizes struct {
	queues                            map[string]int
	jobs                              int
	scheduled, retries, dead, working int
	processed, failures               int64
}

func (st *store) sizes() sizes {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := sizes{
		queues: map[string]int{defaultQueue: 0}, jobs: st.jobs, working: st.working,
		scheduled: len(st.scheduled.items), retries: len(st.retries.items), dead: len(st.dead),
		processed: st.processed, failures: st.failures,
	}
	for name, q := range st.queues {
		if name == defaultQueue || q.jobs.len() > 0 {
			n.queues[name] = q.jobs.len()
		}
	}
	return n
}

type size struct {
	Size int `json:"size"`
}

// info is what INFO answers with, after the sample in the worker guide.
func (s *Server) info() []byte {
	n := s.store.sizes()
	b, err := json.Marshal(map[string]any{
		"server_utc_time": time.Now().UTC().Format("15:04:05 UTC"),
		"faktory": map[string]any{
			"default_size": n.queues[defaultQueue],
			"queues":       n.queues,
			"sets": map[string]int{
				"scheduled": n.scheduled, "retries": n.retries, "dead": n.dead, "working": n.working,
			},
			"tasks": map[string]size{
				"Busy": {n.working}, "Dead": {n.dead}, "Retries": {n.retries}, "Scheduled": {n.scheduled},
			},
			"total_enqueued":  n.jobs,
			"total_failures":  n.failures,
			"total_processed": n.processed,
			"total_queues":    len(n.queues),
		},
		"server": map[string]any{
			"command_count":   s.commands.Load(),
			"connections":     s.Connections(),
			"faktory_version": "fakes",
			"uptime":          itoa(int64(time.Since(s.started) / time.Second)),
			"used_memory_mb":  fmt.Sprintf("%d MB", memory()>>20),
		},
	})
	if err != nil {
		return []byte("{}") // maps of strings and numbers: it cannot fail
	}
	return b
}

func memory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
