package ledger

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkJob books the whole usual way of a job, so ns/op is for four reports.
func BenchmarkJob(b *testing.B) {
	l, k := New(), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		bookJob(l, k)
		k++
	}
}

// BenchmarkJobParallel has as many goroutines as cores, which work on neighbours.
func BenchmarkJobParallel(b *testing.B) {
	l := New()
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			bookJob(l, next.Add(1))
		}
	})
}

// BenchmarkTenMillion shows what the account of ten million jobs weighs, and how long a count takes.
func BenchmarkTenMillion(b *testing.B) {
	const jobs = 10_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l := New()
	for k := range int64(jobs) {
		bookJob(l, k)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ResetTimer()
	for b.Loop() {
		if l.Count(true).Acked != jobs {
			b.Fatal("not all are settled")
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/jobs, "bytes/job")
}

func bookJob(l *Ledger, k int64) {
	l.BookSent(k, time.Duration(k))
	l.BookPush(k)
	l.BookDelivery(k, 0)
	l.BookAck(k)
}
