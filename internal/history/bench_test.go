package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// busyHistory is the history of a right server with many clients, in calls that overlap: most
// jobs are pushed, fetched and acknowledged, some fail and come again, and many FETCHes
// find nothing.
func busyHistory(events int) *History {
	const clients = 100
	h := &History{Drained: true, Events: make([]Event, 0, events)}
	step := time.Millisecond
	reserve, retry := int64(600), int64(3)
	add := func(n int, e Event) {
		at := time.Duration(len(h.Events)) * step
		e.Client, e.Worker = n%clients, fmt.Sprintf("worker-%d", n%clients)
		e.Call, e.Return = at, at+2*step-time.Duration(n%7)
		h.Events = append(h.Events, e)
	}
	queues := []string{"low", "high", "normal"}
	for n := 0; len(h.Events)+8 < events; n++ {
		jid := fmt.Sprintf("job-%015d", n)
		queue := queues[n%3]
		rounds := 1
		if n%10 == 0 {
			rounds = 3
		}
		add(n, Event{Op: Push, Outcome: OK, JID: jid, Queue: queue, ReserveFor: &reserve, Retry: &retry, Body: jid})
		for round := range rounds {
			add(n+round, Event{Op: Fetch, Outcome: OK, JID: jid, Queue: queue, Queues: queues[n%3 : n%3+1], Body: jid})
			last := Event{Op: Fail, Outcome: OK, JID: jid}
			if round == rounds-1 {
				last.Op = Ack
			}
			add(n+round, last)
		}
		if n%5 == 0 {
			add(n, Event{Op: Fetch, Outcome: Empty, Queues: []string{"idle", queues[n%3]}})
		}
	}
	for range 3 {
		add(0, Event{Op: Fetch, Outcome: Empty, Queues: queues})
	}
	return h
}

func BenchmarkJudge(b *testing.B) {
	for _, events := range []int{10_000, 100_000, 1_000_000} {
		h := busyHistory(events)
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := len(Judge(h)); n > 0 {
					b.Fatal(Judge(h)[0])
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkJudgeWrong judges a server that delivers every job twice and one that loses
// them all.
func BenchmarkJudgeWrong(b *testing.B) {
	const events = 300_000
	twice, loss := busyHistory(events), busyHistory(events)
	for i := range twice.Events {
		if e := &twice.Events[i]; e.Op == Ack || e.Op == Fail {
			*e = Event{
				Client: e.Client, Worker: "another", Op: Fetch, Outcome: OK, JID: e.JID,
				Queues: []string{"low", "high", "normal"}, Call: e.Call, Return: e.Return,
			}
		}
		if e := &loss.Events[i]; e.Op != Push {
			e.Op, e.Outcome, e.JID = Fetch, Empty, ""
		}
	}
	for name, h := range map[string]*History{"twice": twice, "lost": loss} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NotEmpty(b, Judge(h))
			}
		})
	}
}

// BenchmarkJudgeOneJob judges a history that is all about one job.
func BenchmarkJudgeOneJob(b *testing.B) {
	const events = 100_000
	h := &History{}
	retry := int64(events)
	for i := range events {
		call := time.Duration(i) * 10
		e := Event{Client: i % 3, Worker: "w", Op: Fetch, Outcome: OK, JID: "job", Call: call, Return: call + 12}
		if i%2 == 0 {
			e.Op = Fail
		}
		if i == 0 {
			e.Op, e.Retry = Push, &retry
		}
		h.Events = append(h.Events, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		require.Empty(b, Judge(h))
	}
}

func BenchmarkRecorder(b *testing.B) {
	r := NewRecorder()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		client := r.Client(1, "w")
		for pb.Next() {
			client.Call(Event{Op: Ack, JID: "job"}).Return(OK)
		}
	})
}
