package fakes_test

import (
	"strings"
	"testing"

	"github.com/fwpsuite/fwp/fakes"
)

// BenchmarkRoundTrip is PUSH, FETCH and ACK of one job on one connection.
func BenchmarkRoundTrip(b *testing.B) {
	s := start(b, fakes.Config{})
	w := produce(b, s)
	for b.Loop() {
		roundTrip(w, "q")
	}
}

// BenchmarkRoundTrips has many connections do the same, each with its own queue.
func BenchmarkRoundTrips(b *testing.B) {
	s := start(b, fakes.Config{})
	b.SetParallelism(25)
	b.RunParallel(func(pb *testing.PB) {
		w := produce(b, s)
		queue := strings.TrimPrefix(w.conn.LocalAddr().String(), "127.0.0.1:")
		for pb.Next() {
			roundTrip(w, queue)
		}
	})
}

// BenchmarkHandOver has a job go to a consumer that waits for it.
func BenchmarkHandOver(b *testing.B) {
	s := start(b, fakes.Config{})
	p, c := produce(b, s), produce(b, s)
	for b.Loop() {
		c.send("FETCH q\r\n")
		p.do(`PUSH {"jid":"0123456789abcdef","jobtype":"bench","args":[1,2,3],"queue":"q"}`)
		c.read()
		c.do(`ACK {"jid":"0123456789abcdef"}`)
	}
}

func roundTrip(w *wire, queue string) {
	jid := queue + "-0123456789abcdef"
	w.do(`PUSH {"jid":"` + jid + `","jobtype":"bench","args":[1,2,3],"queue":"` + queue + `"}`)
	if got := w.do("FETCH " + queue); !strings.Contains(got, jid) {
		w.t.Fatal(got)
	}
	if got := w.do(`ACK {"jid":"` + jid + `"}`); got != "+OK" {
		w.t.Fatal(got)
	}
}
