package suite

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// crowdConn is the connection of the first of many workers, maxCrowd how many of them there are at most.
const crowdConn, maxCrowd = 100, 17

// crowd has several workers of one queue be ready for as many REQUESTs, and then each for one of a queue of its own, to
// which it replies. They leave in both ways; the last one is ready for what must not come again.
func (w *routeMaker) crowd() (steps []explore.Step) {
	n := min(w.messageCount(), maxCrowd)
	w.first++
	shared, ownQueues := fmt.Sprintf(`"$queue%d"`, w.first), make([]string, n)
	for i := range n {
		w.first++
		ownQueues[i] = fmt.Sprintf(`"$queue%d"`, w.first)
		queues := [][]string{{ownQueues[i], shared}, {shared, ownQueues[i]}}
		conn := crowdConn + i
		steps = append(steps, w.open(conn, scenarios.Consumer), w.inform(conn, queues[i%2]), w.sendReady(conn))
	}
	for range n {
		steps = append(steps, w.requestTo([]string{shared}, firstClient))
	}
	for i := range n {
		conn := crowdConn + i
		steps = append(steps, w.sendReady(conn), w.requestTo(ownQueues[i:i+1], secondClient, emqp.ReplyRequested),
			w.sendReply(conn))
	}
	last := crowdConn + n - 1
	for conn := crowdConn; conn < last; conn++ {
		if conn%2 == 0 {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.KBAI)))
		}
		steps = append(steps, explore.End(conn, scenarios.Closed), w.sendReady(last))
	}
	return append(steps, explore.End(last, scenarios.Closed))
}
