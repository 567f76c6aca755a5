package main

import (
	"strings"
)

// basics are scripts that hold for the right broker and for every variant.
func basics() []script {
	large := strings.Repeat("large\x00\xff", 20000)
	list := map[string][]step{
		"request": flat(worker("w", "[1, 'a'], [2, \"b\"]"),
			asks("c", "1", "a", "timeout:5,"+rr, large), works("w", "a", "timeout:5,"+rr, large),
			replies("w", "2", "done"), answers("c", "done"), ready("w"),
			asks("?d", "3", "b", "", ""), works("w", "b", "", ""),
			replies("w", "4", "nothing"), silent("?d", "REPLY", 100)),
		"waits": flat(asks("c", "1", "q", "", "x"), asks("c", "2", "other", "", "y"), pause(50),
			worker("w1", q), works("w1", "q", "", "x"), silent("w1", "REQUEST", 100)),
		"two": flat(worker("w1", q), worker("w2", q),
			asks("c", "1", "q", "", "same"), asks("c", "2", "q", "", "same"),
			works("w1", "q", "", "same"), works("w2", "q", "", "same")),
		"malformed": flat(worker("w1", q),
			says("?x", "REQUEST", "1", "q"), says("?y", "NOTHING", "1"), says("?z", "INFORM", "1", "{}", "worker"),
			step{who: "?v", send: []string{"x"}}, pause(50),
			asks("c", "1", "q", "", "x"), works("w1", "q", "", "x")),
		"schedule": flat(informs("s1", "", "scheduler"), informs("s2", "", "scheduler"),
			says("c", "UNSCHEDULE", "1", "", "", "x"),
			gets("s1", "UNSCHEDULE", "<*>", "", "", "x"), gets("s2", "UNSCHEDULE", "<*>", "", "", "x"),
			says("s2", "KBAI", "2"), pause(50),
			says("c", "SCHEDULE", "3", "q", "nohaste", "x"),
			gets("s1", "SCHEDULE", "<*>", "q", "nohaste", "x")),
		"beats": flat(worker("w1", q), times(3, pause(300), says("w1", "HEARTBEAT", "1", "1750000000")),
			gets("w1", "HEARTBEAT", "<*>", "<seconds>"),
			informs("s1", "", "scheduler"),
			times(3, pause(300), says("s1", "HEARTBEAT", "1", "1750000000")),
			gets("s1", "HEARTBEAT", "<*>", "<seconds>"),
			says("c", "PUBLISH", "1", "t", "", "x"), silent("c", "HEARTBEAT|REPLY", 300)),
		"leave": flat(worker("w1", q), worker("w2", q), says("w1", "KBAI", "1"), pause(50),
			asks("c", "1", "q", "", "x"), works("w2", "q", "", "x"), silent("w1", "REQUEST|HEARTBEAT|KBAI|REPLY", 300),
			says("c", "DISCONNECT", "2"), gets("c", "KBAI", "<*>"), gets("w2", "KBAI", "<*>"),
			asks("c", "3", "q", "", "x"), ready("w2"), silent("w2", "REQUEST|HEARTBEAT", 1100)),
	}
	var all []script
	for name, steps := range list {
		all = append(all, script{Name: name, Steps: steps})
	}
	return all
}
