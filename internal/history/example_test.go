package history_test

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
)

func ExampleJudge() {
	at := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	h := &history.History{Events: []history.Event{
		{Client: 1, Op: history.Push, Outcome: history.OK, JID: "job-1", Call: at(0), Return: at(1)},
		{Client: 2, Worker: "a", Op: history.Fetch, Outcome: history.OK, JID: "job-1", Call: at(2), Return: at(3)},
		{Client: 2, Worker: "a", Op: history.Ack, Outcome: history.OK, JID: "job-1", Call: at(4), Return: at(5)},
		{Client: 3, Worker: "b", Op: history.Fetch, Outcome: history.OK, JID: "job-1", Call: at(6), Return: at(7)},
	}}
	for _, f := range history.Judge(h) {
		fmt.Println(f.Breach, f.Events)
		fmt.Println(f.Description)
	}
	// Output:
	// returned [0 1 2 3]
	// job job-1 came with FETCH #1 (a, 2ms to 3ms) and FETCH #3 (b, 6ms to 7ms) although its worker acknowledged it with ACK #2 (a, 4ms to 5ms), before the last delivery and within its reservation of 30m0s
}
