package fakes_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

func TestEveryJobGoesToOneConsumer(t *testing.T) {
	t.Parallel()
	const consumers, producers, each = 50, 5, 1000
	s := start(t, fakes.Config{FetchBlock: 500 * time.Millisecond})
	var mu sync.Mutex
	counts := make(map[string]int)
	var remaining atomic.Int64
	remaining.Store(producers * each)
	var wg sync.WaitGroup
	for i := range consumers {
		c := consume(t, s, fmt.Sprintf("worker-%d", i))
		wg.Go(func() {
			for remaining.Load() > 0 {
				if jid := runJob(c); jid != "" {
					remaining.Add(-1)
					mu.Lock()
					counts[jid]++
					mu.Unlock()
				}
			}
		})
	}
	for i := range producers {
		p := produce(t, s)
		wg.Go(func() {
			for n := range each {
				queue := []string{`"queue":"crowd"`, `"queue":"other"`}[n%2]
				assert.Equal(t, "+OK", p.do(job(fmt.Sprintf("job-%d-%d", i, n), queue)))
			}
		})
	}
	wg.Wait()
	assert.Len(t, counts, producers*each)
	for jid, times := range counts {
		assert.Equal(t, 1, times, jid)
	}
	assert.Contains(t, produce(t, s).do("INFO"), `"sets":{"dead":0,"retries":0,"scheduled":0,"working":0}`)
}

// runJob fetches a job and reports it as done; "" means that there was none.
func runJob(c *wire) string {
	got := c.do("FETCH other crowd")
	if got == "$-1" {
		return ""
	}
	jid := textBetween(got, `"jid":"`, `"`)
	assert.Equal(c.t, "+OK", c.do(`ACK {"jid":"`+jid+`"}`))
	return jid
}

// Consumers disconnect before there is a job for their FETCH: a job that is pushed then
// must be delivered to another consumer. Each has a queue of its own, because a job that
// is in the queue already may be sent to the consumer before it disconnects.
func TestConsumersThatLeaveTakeNothingAlong(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, _ *fakes.Server, dial func() *wire) {
		p := dial().greet(producer)
		for n := range 200 {
			w := dial().greet(producer)
			w.send(fmt.Sprintf("FETCH q%d\r\n", n))
			w.conn.Close()
			require.Equal(t, "+OK", p.do(job(fmt.Sprintf("job-%d", n), fmt.Sprintf(`"queue":"q%d"`, n))))
		}
		synctest.Wait() // jobs for consumers that have disconnected are given back
		info := p.do("INFO")
		assert.Contains(t, info, `"total_enqueued":200`)
		assert.Contains(t, info, `"working":0}`)
	})
}
