package fakeworker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// jobVariations are about which jobs are fetched, and about reports. (FETCH; ACK; FAIL)
var jobVariations = []Variation{
	variation("backtrace-empty", "FWP-FAIL-05", "The backtrace of its FAILs is empty.",
		failing(field("backtrace", []string{}))),
	variation("backtrace-long", "FAIL Command", "The backtrace of its FAILs has 200 lines.",
		failing(field("backtrace", slices.Repeat([]string{"at worker.run (worker.go:17)"}, 200)))),
	variation("errtype-empty", "FWP-WRK-04", "The errtype of its FAILs is empty, and their message is not.",
		failing(func(e *Event) {
			e.Fields["errtype"] = ""
			if e.Fields["message"] == "" {
				e.Fields["message"] = "no message"
			}
		})),
	variation("fail-more-fields", "FAIL Command", "Its FAILs have a field more.", failing(field("host", "worker-1"))),
	variation("fetch-slowly", "FWP-FETCH-11", "It takes 300 ms between two jobs.",
		catalogue.On(fetches, func(e *Event) { e.Worker.linger(300 * time.Millisecond) })),
	configured("holds-one-more", "FWP-WRK-10", "It fetches one job more than it may run.",
		func(c *Config) { c.Concurrency++ }),
	variation("message-short", "FWP-FAIL-05", "The message of a FAIL has at most 100 characters.",
		failing(func(e *Event) {
			if message, is := e.Fields["message"].(string); is {
				runes := []rune(message)
				e.Fields["message"] = string(runes[:min(100, len(runes))])
			}
		})),
	variation("pushes-jobs", "FWP-PUSH-05", "It pushes a job for each job that succeeds.", on(Ran, pushAnother)),
	variation("queues-in-turn", "FWP-FETCH-13", "Each of its FETCHes names one of its queues.",
		catalogue.Keep(at(Fetching), func(n *int, e *Event) {
			if *n++; len(e.Queues) > 0 {
				e.Queues = e.Queues[*n%len(e.Queues):][:1]
			}
		})),
	variation("queues-shuffled", "FWP-FETCH-13", "It shuffles its queues for each FETCH.",
		catalogue.Keep(at(Fetching), func(n *uint64, e *Event) {
			*n++
			random := rand.New(rand.NewPCG(0, *n)) // the same in each run
			e.Queues = slices.Clone(e.Queues)
			random.Shuffle(len(e.Queues), func(i, j int) { e.Queues[i], e.Queues[j] = e.Queues[j], e.Queues[i] })
		})),
	variation("report-again-after-error", "FWP-FETCH-10", "It reports a job again whose report was refused.",
		catalogue.On(refused(""), func(e *Event) { // as long as it may become possible
			e.Again = isReport(e.Verb) && bytes.Contains(e.Reply.Text, []byte("not possible"))
		})),
	variation("report-later", "FETCH", "It reports a job half a second after it has ended.",
		sent(fwp.ACK, func(e *Event) { e.Delay = 500 * time.Millisecond })),
	variation("report-not-repeated", "FWP-FETCH-10", "It does not report a job again whose report got no reply.",
		on(Lost, again)),
}

// pushAnother pushes a job for one that succeeded, but none for a job that was pushed for that.
func pushAnother(e *Event) {
	if e.Outcome == Succeeded && !strings.HasPrefix(e.Job.JID, "follow") {
		e.Worker.say(fwp.PUSH, Fields{
			"jid": fmt.Sprintf("follow-%016x", rand.Uint64()), "jobtype": "follow", "args": []int{1}, "queue": "another",
		})
	}
}

// producerVariations are about what a producer pushes. (Work units; PUSH)
var producerVariations = []Variation{
	variation("created-at-added", "FWP-WU-17", "It sets created_at.",
		on(Pushing, func(e *Event) { fill("created_at", time.Now().Format(time.RFC3339Nano))(e) })),
	variation("defaults-added", "FWP-WU-17", "It writes the defaults of fields that were not given.",
		on(Pushing, func(e *Event) {
			fill("retry", 25)(e)
			fill("reserve_for", 1800)(e)
			fill("backtrace", 0)(e)
		})),
	variation("digits-lost", "FWP-WU-20", "Its integers beyond 2^53 lose digits.", on(Pushing, func(e *Event) {
		var unit Fields
		if json.Unmarshal(encode(e.Fields), &unit) == nil {
			e.Fields = unit
		}
	})),
	variation("exit-code-3", "docs/judging-workers.md", "Its exit code is 3 if a PUSH was refused.",
		on(Exiting, func(e *Event) { e.Code *= 3 })),
	variation("hello-as-worker", "FWP-HELLO-17", "Its HELLO has the fields of a worker.", on(Introducing, func(e *Event) {
		e.Fields["wid"], e.Fields["pid"] = e.Worker.cfg.WID, e.Worker.cfg.PID
		e.Fields["hostname"], e.Fields["labels"] = e.Worker.cfg.Hostname, e.Worker.cfg.Labels
	})),
	variation("nulls-added", "FWP-WU-17", "It writes null for custom, if there is none.",
		on(Pushing, fill("custom", json.RawMessage("null")))),
	configured("one-caller", "Client Protocol Sender", "It pushes one job at a time.",
		func(c *Config) { c.Concurrency = 1 }),
	variation("push-repeated", "FWP-WRK-06", "It pushes a job again whose PUSH lost its connection.", on(Lost, again)),
	variation("times-in-utc", "FWP-WU-17", "It writes times in UTC, to the millisecond.", on(Pushing, func(e *Event) {
		for _, name := range []string{"at", "created_at"} {
			if t, err := rfc3339.Parse(fmt.Sprint(e.Fields[name])); err == nil {
				e.Fields[name] = t.UTC().Format("2006-01-02T15:04:05.000Z")
			}
		}
	})),
}
