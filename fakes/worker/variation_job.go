package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// jobVariations are about which jobs are fetched, and about reports. (FETCH; ACK; FAIL)
var jobVariations = []Variation{
	variation("backtrace-empty", actOnFail(field("backtrace", []string{}))),
	variation("backtrace-long",
		actOnFail(field("backtrace", slices.Repeat([]string{"at worker.run (worker.go:17)"}, 200)))),
	variation("errtype-empty", actOnFail(func(e *Event) {
		e.Fields["errtype"] = ""
		if e.Fields["message"] == "" {
			e.Fields["message"] = "no message"
		}
	})),
	variation("fail-more-fields", actOnFail(field("host", "worker-1"))),
	variation("fetch-slowly", catalogue.ActIf(fetches, func(e *Event) {
		machine.Wait(e.Worker.quietSignal, 300*time.Millisecond)
	})),
	settingVariation("executors-apart", func(c *Config) { c.SeparateProcesses = true }),
	settingVariation("holds-one-more", func(c *Config) { c.Concurrency++ }),
	variation("loss-pause-a-minute", catalogue.WithMemory(catalogue.Any(at(ConnectionLost), at(Replied)),
		func(n *int, e *Event) {
			if e.Point == Replied {
				*n = 0
				return
			}
			e.Delay = min(time.Second<<min(*n, 6), time.Minute)
			*n++
		})),
	variation("message-short", actOnFail(func(e *Event) {
		if message, ok := e.Fields["message"].(string); ok {
			runes := []rune(message)
			e.Fields["message"] = string(runes[:min(100, len(runes))])
		}
	})),
	variation("pushes-jobs", actAt(Ran, pushAnother)),
	variation("queues-in-turn", catalogue.WithMemory(at(Fetching), func(n *int, e *Event) {
		if *n++; len(e.Queues) > 0 {
			e.Queues = e.Queues[*n%len(e.Queues):][:1]
		}
	})),
	variation("queues-shuffled", catalogue.WithMemory(at(Fetching), func(n *uint64, e *Event) {
		*n++
		random := rand.New(rand.NewPCG(0, *n)) // the same in each run
		e.Queues = slices.Clone(e.Queues)
		random.Shuffle(len(e.Queues), func(i, j int) { e.Queues[i], e.Queues[j] = e.Queues[j], e.Queues[i] })
	})),
	variation("refused-ends-in-order", catalogue.ActIf(isOpenFailure(isConnRefused),
		func(e *Event) { e.Worker.Signal("TERM") })),
	variation("refused-exits", catalogue.ActIf(isOpenFailure(isConnRefused), exit(1))),
	variation("report-again-after-error",
		catalogue.ActIf(isRefusal(""), func(e *Event) { // as long as it may become possible
			e.Repeat = isReport(e.Verb) && bytes.Contains(e.Reply.Text, []byte("not possible"))
		})),
	variation("report-later", actOnSend(fwp.ACK, func(e *Event) { e.Delay = 500 * time.Millisecond })),
	variation("report-not-repeated", actAt(ConnectionLost, repeat)),
}

// pushAnother pushes a job for one that succeeded, but none for a job that was pushed for that.
func pushAnother(e *Event) {
	if e.Outcome == Succeeded && !strings.HasPrefix(e.Job.JID, "follow") {
		e.Worker.sendOnNewConn(fwp.PUSH, Fields{
			"jid": fmt.Sprintf("follow-%016x", rand.Uint64()), "jobtype": "follow", "args": []int{1}, "queue": "another",
		})
	}
}

// producerVariations are about what a producer pushes. (Work units; PUSH)
var producerVariations = []Variation{
	variation("created-at-added",
		actAt(Pushing, func(e *Event) { fill("created_at", time.Now().Format(time.RFC3339Nano))(e) })),
	variation("defaults-added", actAt(Pushing, func(e *Event) {
		fill("retry", 25)(e)
		fill("reserve_for", 1800)(e)
		fill("backtrace", 0)(e)
	})),
	variation("digits-lost", actAt(Pushing, func(e *Event) {
		var unit Fields
		if json.Unmarshal(encode(e.Fields), &unit) == nil {
			e.Fields = unit
		}
	})),
	variation("exit-code-3", actAt(Exiting, func(e *Event) { e.Code *= 3 })),
	variation("hello-as-worker", actAt(Introducing, func(e *Event) {
		e.Fields["wid"], e.Fields["pid"] = e.Worker.cfg.WID, e.Worker.cfg.PID
		e.Fields["hostname"], e.Fields["labels"] = e.Worker.cfg.Hostname, e.Worker.cfg.Labels
	})),
	variation("nulls-added", actAt(Pushing, fill("custom", json.RawMessage("null")))),
	settingVariation("one-caller", func(c *Config) { c.Concurrency = 1 }),
	variation("push-repeated", actAt(ConnectionLost, repeat)),
	variation("push-repeated-renamed",
		func() func(*Event) { return catalogue.Chain(actAt(ConnectionLost, repeat), renameRepeats()) }),
	variation("refused-pushed-alone", actAt(Pushed, func(e *Event) {
		if e.Reply.Kind == fwp.ErrorReply && e.Worker.sendOnNewConn(fwp.PUSH, e.Fields) {
			e.State = "pushed"
		}
	})),
	variation("times-in-utc", actAt(Pushing, func(e *Event) {
		for _, name := range []string{"at", "created_at"} {
			if t, err := number.ParseTime(fmt.Sprint(e.Fields[name])); err == nil {
				e.Fields[name] = t.UTC().Format("2006-01-02T15:04:05.000Z")
			}
		}
	})),
}
