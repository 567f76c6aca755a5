package variations

import (
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// paceVariations answer late, or in pieces with pauses between them.
var paceVariations = []fakes.Variation{
	variation("pace-bytes", "Link Level", "replies are written byte by byte", do(func(e *event) {
		// long replies in 20 pieces: more than these would only take time
		if e.Chunk, e.Pause = 1, time.Microsecond; len(e.Bytes) > 2000 {
			e.Chunk = len(e.Bytes) / 20
		}
	}, at(fakes.Writing))),
	variation("pace-far-away", "Link Level", "every reply is sent 30 ms later", away(30*time.Millisecond)),
	variation("pace-jitter", "Link Level", "every reply is sent up to 300 ms later", do(func(e *event) {
		e.Delay = drawn(0, 300*time.Millisecond, strconv.FormatInt(e.Conn.ID, 10), int64(e.Conn.Commands))
	}, at(fakes.Writing))),
	variation("pace-last-byte", "Link Level",
		"the last byte of the greeting and of every reply comes 200 ms after the others",
		do(func(e *event) { e.Chunk, e.Pause = max(len(e.Bytes)-1, 1), 200*time.Millisecond }, at(fakes.Writing))),
	variation("pace-pauses", "Server Protocol Sender and Client Protocol Receiver",
		"the server pauses for 1.5 s before every 40th reply that is not one to a FETCH or END",
		catalogue.Every(40, catalogue.All(at(fakes.Ran), catalogue.Not(of(fakes.Ran, fwp.FETCH, fwp.END))),
			delay(1500*time.Millisecond))),
	variation("pace-segments", "Link Level",
		"the greeting and every reply come in two segments with 150 ms between them",
		do(func(e *event) { e.Chunk, e.Pause = len(e.Bytes)/2+1, 150*time.Millisecond }, at(fakes.Writing))),
	variation("pace-slow-fetch", "FETCH Command", "a job is delivered 300 ms after its FETCH",
		do(delay(300*time.Millisecond), at(fakes.Delivered))),
	variation("pace-slow-info", "INFO Command", "INFO takes 400 ms",
		do(delay(400*time.Millisecond), of(fakes.Ran, fwp.INFO))),
	variation("pace-slow-push", "PUSH Command", "a PUSH takes 400 ms",
		do(delay(400*time.Millisecond), valid(fwp.PUSH))),
	variation("pace-slow-reports", "Server Protocol Sender and Client Protocol Receiver",
		"ACK, FAIL and BEAT take 500 ms", do(delay(500*time.Millisecond), of(fakes.Ran, fwp.ACK, fwp.FAIL, fwp.BEAT))),
}

// away delays every reply, as by a distance.
func away(d time.Duration) func(*event) { return do(delay(d), at(fakes.Writing)) }
