package fakes

import (
	"encoding/json"
	"fmt"
	"runtime/metrics"
	"time"
)

type size struct {
	Size int `json:"size"`
}

// info returns the reply to INFO, after the sample in the worker guide.
func (s *Server) info() []byte {
	n := s.store.Sizes()
	n.Queues[defaultQueue] += 0 // it is listed even if it is empty
	b, err := json.Marshal(map[string]any{
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
