package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// disturb has things happen that are to change nothing, each while a REQUEST or a worker waits for the other one.
func (w *routeMaker) disturb() (steps []explore.Step) {
	all := slices.Concat(w.disturbances(), w.foreignMessages())
	for range 3 {
		pair := []explore.Step{w.requestTo(w.queues[0][:1], firstClient), w.sendReady(firstWorker)}
		first := w.Deal("who waits", len(pair))
		steps = append(steps, pair[first], w.build.Open(leaver, scenarios.Producer, ""))
		if n := w.Deal("disturbance", len(all)+malformations); n < len(all) {
			steps = append(steps, all[n]()...)
		} else {
			for range 4 {
				steps = append(append(steps, w.sender()...), w.build.Line(leaver, "%s", w.malformed()))
			}
		}
		steps = append(steps, explore.End(leaver, scenarios.Closed), pair[1-first])
	}
	return steps
}

// sender opens a connection for a malformed message: of a client, or to the port of workers, of none, or of a worker
// that waits for its READY or for a REQUEST. (EMQP-FRAME-07)
func (w *routeMaker) sender() []explore.Step {
	n := w.Deal("who is malformed", 4)
	if n == 0 {
		return []explore.Step{w.build.Open(leaver, scenarios.Producer, "")}
	}
	return []explore.Step{
		w.build.Open(leaver, scenarios.Consumer, ""), w.inform(leaver, []string{`"$queue0"`}), w.sendReady(leaver),
	}[:n]
}

// malformations is how many of the disturbances are malformed messages, four each.
const malformations = 12

// disturbances are messages that have no effect on others.
func (w *routeMaker) disturbances() []func() []explore.Step {
	queue := w.queues[0][0]
	line := func(conn int, command string, frames func() []string) func() []explore.Step {
		return func() []explore.Step {
			all := append([]string{quote(command), w.oddID()}, frames()...)
			return []explore.Step{w.build.Line(conn, `["", "eMQP/1.0", %s]`, strings.Join(all, ", "))}
		}
	}
	none := func() []string { return nil }
	lastID := func() []string { return []string{fmt.Sprintf("$id%d", w.ids-1)} }
	text := func(command string, before ...string) func() []string {
		return func() []string { return append(slices.Clone(before), w.text(command)) }
	}
	all := []func() []explore.Step{
		line(leaver, emqp.PUBLISH, text(emqp.PUBLISH, queue)), line(leaver, emqp.PUBLISH, text(emqp.PUBLISH, queue, `""`)),
		line(firstClient, emqp.PUBLISH, text(emqp.PUBLISH, queue, `""`)),
		line(firstWorker, emqp.ACK, lastID), line(leaver, emqp.ACK, lastID),
		line(firstWorker, emqp.HEARTBEAT, func() []string { return []string{w.timestamp()} }),
		line(leaver, emqp.KBAI, none), line(leaver, emqp.READY, none),
		line(leaver, emqp.REPLY, text(emqp.REPLY)), line(firstWorker, emqp.REPLY, text(emqp.REPLY)),
		func() []explore.Step {
			return []explore.Step{
				w.build.Open(leaver, scenarios.Consumer, ""), w.inform(leaver, []string{`"$queue0"`}),
				w.build.Line(leaver, "%s", w.message(emqp.KBAI)),
			}
		},
	}
	if w.Terms.Alone {
		all = append(all, line(leaver, emqp.UNSCHEDULE, text(emqp.UNSCHEDULE, queue, `""`)))
	}
	return all
}

// versions are those of another protocol, near misses first.
var versions = []string{
	"eMQP/1.1", "eMQP/1", "eMQP/1.00", "eMQP/1.0 ", " eMQP/1.0", "emqp/1.0", "EMQP/1.0", "eMQP/1.0.1", "eMQP/01.0",
	"eMQP/10", "eMQP/2.0", "eMQP/0.9", "eMQP/9.9", "eMQP-1.0", "1.0",
}

// foreignMessages are messages of another version. (EMQP-FRAME-06)
func (w *routeMaker) foreignMessages() (all []func() []explore.Step) {
	queue := w.queues[0][0]
	text := func() string { return fmt.Sprintf(`"$id%d of another version"`, w.ids+1) }
	line := func(conn int, command string, frames ...string) []explore.Step {
		version := quote(versions[w.Deal("version of "+command, len(versions))])
		return []explore.Step{
			w.build.Line(conn, "%s", strings.Replace(w.message(command, frames...), `"eMQP/1.0"`, version, 1)),
		}
	}
	all = []func() []explore.Step{
		func() (steps []explore.Step) {
			for range versions {
				steps = append(steps, line(leaver, emqp.REQUEST, queue, `""`, text())...)
			}
			return steps
		},
		func() []explore.Step {
			queues := `"[[10,\"` + queue[1:len(queue)-1] + `\"]]"`
			return append(line(leaver, emqp.INFORM, queues, `"worker"`), w.sendReady(leaver))
		},
		func() []explore.Step {
			return slices.Concat([]explore.Step{w.sendReady(firstWorker), w.requestReply(secondClient)},
				line(firstWorker, emqp.REPLY, text()), []explore.Step{w.sendReply(firstWorker)})
		},
		func() []explore.Step { return line(firstWorker, emqp.KBAI) },
	}
	if w.Terms.Alone {
		all = append(all,
			func() []explore.Step {
				return append(line(leaver, emqp.INFORM, `""`, `"scheduler"`),
					w.send(firstClient, emqp.UNSCHEDULE, queue, `""`), w.send(firstClient, emqp.SCHEDULE, queue, `""`))
			},
			func() []explore.Step { return line(leaver, emqp.SCHEDULE, queue, `""`, text()) },
			func() []explore.Step { return line(leaver, emqp.UNSCHEDULE, queue, `""`, text()) })
	}
	return all
}
