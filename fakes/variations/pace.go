package variations

import (
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// paceVariations answer late, or in pieces with pauses between them.
var paceVariations = []fakes.Variation{
	variation("pace-bytes", do(func(e *event) {
		// long replies in 20 pieces: more than these would only take time
		if e.Chunk, e.ChunkPause = 1, time.Microsecond; len(e.Bytes) > 2000 {
			e.Chunk = len(e.Bytes) / 20
		}
	}, at(fakes.Writing))),
	variation("pace-jitter", do(func(e *event) {
		e.Delay = randomTime(0, 300*time.Millisecond, strconv.FormatInt(e.Conn.ID, 10), int64(e.Conn.Commands))
	}, at(fakes.Writing))),
	variation("pace-last-byte",
		do(func(e *event) { e.Chunk, e.ChunkPause = max(len(e.Bytes)-1, 1), 200*time.Millisecond }, at(fakes.Writing))),
	variation("pace-pauses",
		catalogue.ActEveryNth(40, catalogue.All(at(fakes.Ran), catalogue.Not(atPoint(fakes.Ran, fwp.FETCH, fwp.END))),
			delay(1500*time.Millisecond))),
	variation("pace-segments",
		do(func(e *event) { e.Chunk, e.ChunkPause = len(e.Bytes)/2+1, 150*time.Millisecond }, at(fakes.Writing))),
}

// delayWrites delays every reply, as by a distance.
func delayWrites(d time.Duration) func(*event) { return do(delay(d), at(fakes.Writing)) }
