package suite

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// firstOfCrowd is the connection of the first of many workers, mostCrowded how many of them there are at most.
const firstOfCrowd, mostCrowded = 100, 17

// crowd has several workers of one queue be ready for as many REQUESTs, and then each for one of a queue of its own, to
// which it replies. They leave in both ways; the last one is ready for what must not come again.
func (w *wayfarer) crowd() (steps []explore.Step) {
	n := min(w.several(), mostCrowded)
	w.first++
	shared, own := fmt.Sprintf(`"$queue%d"`, w.first), make([]string, n)
	for i := range n {
		w.first++
		own[i] = fmt.Sprintf(`"$queue%d"`, w.first)
		queues := [][]string{{own[i], shared}, {shared, own[i]}}
		conn := firstOfCrowd + i
		steps = append(steps, w.open(conn, scenarios.Consumer), w.inform(conn, queues[i%2]), w.ready(conn))
	}
	for range n {
		steps = append(steps, w.to([]string{shared}, firstClient))
	}
	for i := range n {
		conn := firstOfCrowd + i
		steps = append(steps, w.ready(conn), w.to(own[i:i+1], secondClient, emqp.ReplyRequested), w.replies(conn))
	}
	last := firstOfCrowd + n - 1
	for conn := firstOfCrowd; conn < last; conn++ {
		if conn%2 == 0 {
			steps = append(steps, w.build.Line(conn, "%s", w.message(emqp.KBAI)))
		}
		steps = append(steps, explore.End(conn, scenarios.Closed), w.ready(last))
	}
	return append(steps, explore.End(last, scenarios.Closed))
}
