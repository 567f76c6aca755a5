package history

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder()
		producer, consumer := r.Client(1, ""), r.Client(2, "w")
		time.Sleep(time.Second)
		pushing := producer.Call(Event{Op: Push, JID: "j"})
		fetching := consumer.Call(Event{Op: Fetch})
		time.Sleep(time.Second)
		pushing.Return(OK)
		fetching.Delivered("j", "default", "body")
		time.Sleep(time.Second)
		consumer.Call(Event{Op: Ack, JID: "j", Outcome: OK}) // a call is open, whatever it says
		consumer.Add(Event{Op: Fetch, Outcome: Empty, Call: 0, Return: 1})

		assert.Equal(t, []Event{
			{Client: 2, Worker: "w", Op: Fetch, Outcome: Empty, Call: 0, Return: 1},
			{Client: 1, Op: Push, Outcome: OK, JID: "j", Call: time.Second, Return: 2 * time.Second},
			{
				Client: 2, Worker: "w", Op: Fetch, Outcome: OK, JID: "j", Queue: "default", Body: "body",
				Call: time.Second, Return: 2 * time.Second,
			},
			{Client: 2, Worker: "w", Op: Ack, JID: "j", Call: 3 * time.Second, Return: -1},
		}, r.History().Events)
		assert.Equal(t, 3*time.Second, time.Since(r.Begin()))
	})
}

func TestRecorderCutsAtOneInstant(t *testing.T) {
	t.Parallel()
	client := NewRecorder().Client(1, "w")
	client.Add(Event{Op: Ack, Outcome: OK, JID: "before", Call: 1, Return: 5})
	client.Add(Event{Op: Fetch, Outcome: OK, JID: "during", Queue: "q", Body: "b", Call: 4, Return: 6})
	client.Add(Event{Op: Push, Outcome: OK, JID: "after", Call: 6, Return: 7})
	assert.Equal(t, []Event{
		{Client: 1, Worker: "w", Op: Ack, Outcome: OK, JID: "before", Call: 1, Return: 5},
		{Client: 1, Worker: "w", Op: Fetch, Call: 4, Return: -1},
	}, client.eventsUntil(nil, 5))
}

// TestRecorderWhileItRecords takes histories in the middle of a run. None of them may
// show a job before its PUSH.
func TestRecorderWhileItRecords(t *testing.T) {
	t.Parallel()
	const workers, jobs = 8, 300
	r := NewRecorder()
	pushed := make(chan string, workers)
	var running sync.WaitGroup
	for n := range workers {
		running.Go(func() {
			client := r.Client(n, "")
			for i := range jobs {
				jid := fmt.Sprintf("%d-%d", n, i)
				call := client.Call(Event{Op: Push, JID: jid})
				pushed <- jid
				call.Return(OK)
			}
		})
		running.Go(func() {
			worker := fmt.Sprintf("w%d", n)
			client := r.Client(workers+n, worker)
			for range jobs {
				fetch := client.Call(Event{Op: Fetch})
				jid := <-pushed
				fetch.Delivered(jid, "", "")
				client.Call(Event{Op: Ack, JID: jid}).Return(OK)
			}
		})
	}
	for range 50 {
		require.Empty(t, Judge(r.History()))
	}
	running.Wait()
	h := r.History()
	assert.Len(t, h.Events, 3*workers*jobs)
	report := Examine(h)
	assert.Empty(t, report.Findings)
	assert.Equal(t, workers*jobs, report.Settled)
}
