package main

import "fmt"

// info reports sizes and counters.
func (s *server) info() string {
	st := &s.store
	if s.variant == 3 {
		return bulk(fmt.Sprintf("stranger, up and well\nconnections: %d\ncommands: %d\n", len(s.conns), s.commands))
	}
	sizes := map[string]int{}
	for name, q := range st.queues {
		sizes[name] = len(q.jobs)
	}
	working := 0
	for _, jobs := range st.working {
		working += len(jobs)
	}
	size := func(n int) map[string]int { return map[string]int{"size": n} }
	text := encode(map[string]any{
		"server_utc_time": s.now().UTC().Format("15:04:05 UTC"),
		"faktory": map[string]any{
			"default_size": sizes[defaultQueue], "queues": sizes,
			"total_enqueued": st.pushed, "total_failures": st.failures,
			"total_processed": st.processed, "total_queues": len(sizes),
			"tasks": map[string]any{
				"Busy": size(working), "Dead": size(len(st.dead)),
				"Retries": size(len(st.retries)), "Scheduled": size(len(st.scheduled)),
			},
		},
		"server": map[string]any{
			"command_count": s.commands, "connections": len(s.conns), "faktory_version": "stranger 1",
		},
	})
	if s.mutant == 23 {
		return bulkOfRunes(text)
	}
	return bulk(text)
}

// end says good-bye; what the connection has fetched stays reserved.
func (c *conn) end() string {
	s := c.s
	var held []*job
	for _, jobs := range s.store.working {
		for _, j := range jobs {
			if j.holder == c {
				held = append(held, j)
			}
		}
	}
	if s.mutant == 75 && len(held) > 0 {
		return okReply
	}
	if s.mutant == 35 {
		for _, j := range held {
			s.release(j)
			s.enqueue(j, true)
		}
	}
	c.ending = true
	if s.variant == 8 {
		return ""
	}
	return okReply
}
