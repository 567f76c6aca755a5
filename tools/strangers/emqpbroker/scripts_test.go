package main

import (
	"fmt"
	"strings"
)

// of makes the script of a mutant from steps and lists of steps.
func of(mutant int, parts ...any) script {
	return script{Mutant: mutant, Steps: flat(parts...)}
}

func flat(parts ...any) []step {
	var all []step
	for _, part := range parts {
		switch part := part.(type) {
		case step:
			all = append(all, part)
		case []step:
			all = append(all, part...)
		}
	}
	return all
}

// times repeats steps.
func times(n int, parts ...any) []step {
	var all []step
	for range n {
		all = append(all, flat(parts...)...)
	}
	return all
}

// informs and worker announce a worker; a worker is also ready.
func informs(who, queues, role string) []step {
	return flat(says(who, "INFORM", who+"-inform", queues, role), gets(who, "ACK", "<*>", who+"-inform"))
}

func worker(who, queues string) []step {
	return flat(informs(who, queues, "worker"), ready(who))
}

func ready(who string) step {
	return says(who, "READY", who+"-ready")
}

func asks(who, id, queue, headers, body string) step {
	return says(who, "REQUEST", id, queue, headers, body)
}

func works(who, queue, headers, body string) step {
	return gets(who, "REQUEST", "<*>", queue, headers, body)
}

// replies sends a reply, which answers has to arrive as.
func replies(who, id, body string) step { return says(who, "REPLY", id, body) }
func answers(who, body string) step     { return gets(who, "REPLY", "<*>", body) }

const (
	rr = "reply-requested"
	q  = "[10, 'q']"
)

// scripts has one script for each mutant.
func scripts() []script {
	var all []script
	for _, list := range [][]script{wires(), repliesTo(), informed(), waiting(), scheduled(), beating(), leaving()} {
		all = append(all, list...)
	}
	return all
}

func wires() []script {
	return []script{
		of(1,
			slowly(says("w", "INFORM", "w-inform", q, "worker")),
			gets("w", "ACK", "<*>", "w-inform")),
		of(2, worker("w", q),
			asks("c", "1", "q", strings.Repeat("timeout:1234,", 30)+"guarantee", "x"),
			works("w", "q", strings.Repeat("timeout:1234,", 30)+"guarantee", "x")),
		of(3,
			says("?a", "PUBLISH", "1", "t", "", "x"), gets("?a", "ACK", "<*>", "1"),
			says("?b", "PUBLISH", "2", "t", "", "x"), gets("?b", "ACK", "<*>", "2"),
			says("?a", "PUBLISH", "3", "t", "", "x"), gets("?a", "ACK", "<*>", "3")),
		of(5, says("p", "PUBLISH", "1", "t", "x"), pause(50), worker("w", q)),
		of(7, worker("w", q),
			step{who: "c", send: []string{"", "eMQP/1.1", "REQUEST", "1", "q", "", "x"}},
			silent("w", "REQUEST", 200)),
		of(8, says("w1", "INFORM", "1", `["q", 40]`, "worker"), pause(50), worker("w2", q)),
		of(9, worker("w1", q), replies("w1", "1", "x"), pause(50), worker("w2", q)),
		of(10,
			says("c", "PUBLISH", "1", "t", "", "x"), gets("c", "ACK", "<*>", "1"),
			says("c", "PUBLISH", "2", "t", "", "x"), gets("c", "ACK", "<*>", "2")),
		of(11, worker("w", q),
			asks("c", "1", "q", "", "x"), works("w", "q", "", "x"),
			says("w", "ACK", "2", "1"), ready("w"),
			asks("c", "3", "q", "", "y"), works("w", "q", "", "y")),
	}
}

func repliesTo() []script {
	return []script{
		of(12, worker("w1", "[1, 'a']"), worker("w2", "[1, 'b']"),
			asks("c1", "1", "a", rr, "x"), works("w1", "a", rr, "x"),
			asks("c2", "2", "b", rr, "y"), works("w2", "b", rr, "y"),
			replies("w1", "3", "one"), answers("c1", "one")),
		of(13, worker("w", q),
			asks("c", "1", "q", "guarantee,"+rr, "x"), works("w", "q", "guarantee,"+rr, "x"),
			replies("w", "2", "done"), answers("c", "done")),
		of(14, worker("w", q),
			asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			replies("w", "2", "one"), answers("c", "one"), ready("w"),
			asks("c", "3", "q", "", "y"), works("w", "q", "", "y"),
			replies("w", "4", "two"), silent("c", "REPLY", 200)),
		of(15, worker("w", q),
			asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			replies("w", "2", ""), answers("c", "")),
		of(16, worker("w", q),
			asks("c1", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			replies("w", "2", "one"), answers("c1", "one"), ready("w"),
			asks("c2", "3", "q", rr, "y"), works("w", "q", rr, "y"),
			replies("w", "4", "two"), answers("c2", "two")),
		of(17, worker("w", q),
			asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			says("w", "HEARTBEAT", "2", "1750000000"),
			replies("w", "3", "done"), answers("c", "done")),
		of(27, worker("w", q),
			asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			replies("w", "2", "\xff\x00\xfe"), answers("c", "\xff\x00\xfe")),
		of(36, worker("w", q), asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x")),
	}
}

func informed() []script {
	return []script{
		of(18, worker("w", "[10, 'a'], [10, 'b']"), asks("c", "1", "a", "", "x"), works("w", "a", "", "x")),
		of(19, worker("w", "[1000, 'q']"), asks("c", "1", "q", "", "x"), works("w", "q", "", "x")),
		of(20, worker("w", "[10, 'mail']"),
			asks("c", "1", "mailbox", "", "x"), silent("w", "REQUEST", 200)),
		of(21, worker("w", "[10, 'a']"), leaves("w"), pause(50), worker("w", "[10, 'b']"),
			asks("c", "1", "b", "", "x"), works("w", "b", "", "x")),
		of(23,
			asks("c", "1", "b", "", "x"), gets("c", "ACK", "<*>", "1"),
			worker("w", "[2, 'a'], [1, 'b']"), works("w", "b", "", "x")),
	}
}

func waiting() []script {
	var twelve []step
	for i := range 12 {
		twelve = append(twelve, asks("c", fmt.Sprint(i), "q", "", fmt.Sprint("job ", i)))
	}
	return []script{
		of(24, twelve, pause(100), informs("w", q, "worker"), times(12, ready("w"), works("w", "q", "", "<*>"))),
		of(25,
			asks("c", "1", "q", "", "x"), gets("c", "ACK", "<*>", "1"), leaves("c"), pause(50),
			worker("w", q), works("w", "q", "", "x")),
		of(26,
			asks("c", "1", "q", "", "x"), gets("c", "ACK", "<*>", "1"),
			worker("w", q), works("w", "q", "", "x"),
			ready("w"), silent("w", "REQUEST", 200)),
	}
}

func scheduled() []script {
	return []script{
		of(28, informs("s1", "", "scheduler"), informs("s2", "", "scheduler"), leaves("s1"), pause(50),
			says("c", "SCHEDULE", "1", "q", "nohaste", "x"),
			gets("s2", "SCHEDULE", "<*>", "q", "nohaste", "x")),
		of(29, informs("s1", "", "scheduler"), informs("s2", "", "scheduler"),
			says("c", "UNSCHEDULE", "1", "q", "", "x"),
			gets("s1", "UNSCHEDULE", "<*>", "q", "", "x"),
			gets("s2", "UNSCHEDULE", "<*>", "q", "", "x")),
		of(30, informs("s", "[10, 'q']", "scheduler")),
		of(37, informs("s", "", "scheduler"),
			says("c", "SCHEDULE", "1", "q", "", "x"),
			gets("s", "SCHEDULE", "<*>", "q", "", "x")),
	}
}

func beating() []script {
	beat := gets("w1", "HEARTBEAT", "<*>", "<seconds>")
	sign := says("w1", "HEARTBEAT", "1", "1750000000")
	return []script{
		of(4, worker("w1", q), beat, beat),
		of(6, worker("w1", q), beat),
		of(31, worker("w1", q), times(9, sign, pause(80)), within(20, beat)),
		of(32, worker("w1", q), worker("w2", q), beat),
		of(33, informs("s", "", "scheduler"), gets("s", "HEARTBEAT", "<*>", "<seconds>")),
		of(34, informs("w1", q, "worker"), times(6, ready("w1"), pause(300)),
			asks("c", "1", "q", "", "x"), works("w1", "q", "", "x")),
		of(35, asks("c", "1", "q", "", "x"), silent("c", "HEARTBEAT", 600)),
	}
}

func leaving() []script {
	return []script{
		of(22, worker("w", "[1, 'a'], [1, 'b']"), says("w", "KBAI", "1"), pause(50),
			asks("c", "2", "b", "", "x"), silent("w", "REQUEST", 200)),
		of(38, worker("w", q), says("c", "DISCONNECT", "1"), gets("c", "KBAI", "<*>"), gets("w", "KBAI", "<*>")),
		of(39, worker("w", q), says("c", "DISCONNECT", "1"), gets("w", "KBAI", "<*>"),
			silent("w", "HEARTBEAT", 600)),
		of(40, worker("w", q),
			asks("c", "1", "q", rr, "x"), works("w", "q", rr, "x"),
			says("c", "KBAI", "2"), pause(50),
			replies("w", "3", "done"), silent("c", "REPLY", 200)),
	}
}
