package main

import (
	"fmt"
	"strings"
)

// put adds a job with the payload hi; sched schedules one; runs runs one.
func put(n int, rest string) string {
	name, flags, _ := strings.Cut(rest, " -")
	if flags != "" {
		flags = " -" + flags
	}
	return add(n, name+" 2"+flags) + "hi\r\n"
}

func sched(n int, rest string) string {
	return strings.Replace(put(n, rest), "add", "schedule", 1)
}

func runs(n int, rest string) string {
	return strings.Replace(put(n, rest), "add", "run", 1)
}

// keys are what inspect shows of a job with the payload hi; counts are the numbers from max-attempts to state.
func keys(n int, name, ttr, ttl string, counts [6]int, more ...string) string {
	c := counts
	lines := []string{fmt.Sprintf("%s %d", id(n), 12+len(more)), "name " + name, "ttr " + ttr, "ttl " + ttl,
		"payload-size 2", "payload hi", fmt.Sprintf("max-attempts %d", c[0]), fmt.Sprintf("attempts %d", c[1]),
		fmt.Sprintf("max-fails %d", c[2]), fmt.Sprintf("fails %d", c[3]), fmt.Sprintf("priority %d", c[4]),
		fmt.Sprintf("state %d", c[5]), "created <*>"}
	return ok(append(lines, more...)...)
}

const (
	client   = "-CLIENT-ERROR <*>\r\n"
	timeout  = "-TIMEOUT\r\n"
	missing  = "-NOT-FOUND\r\n"
	whatever = "<*>\r\n"
	hi       = "ping 1000 2\r\nhi"
	ping     = "ping 1000 60000"
	now      = "lease ping 0\r\n"
	later    = "ping 1000 60000 2031-01-01T00:00:00Z"
)

// scripts has one script for each mutant.
func scripts() []script {
	var all []script
	for _, list := range [][]script{linesAndBlocks(), lives(), queues(), waits(), reports(), looks()} {
		all = append(all, list...)
	}
	return all
}

// of makes the script of a mutant.
func of(mutant int, steps ...step) script {
	return script{Mutant: mutant, Steps: steps}
}

func linesAndBlocks() []script {
	long := strings.Repeat("a", 65536) + strings.Repeat("b", 34464)
	return []script{
		of(1,
			does("a", add(1, ping+" 5")+"hi\r\n\n\r\n", fine),
			does("a", now, leased(1, "ping 1000 5\r\nhi\r\n\n"))),
		of(2,
			does("a", put(1, ping), fine),
			does("a", now, leased(1, hi)),
			does("a", "complete "+id(1)+" 5\r\na\x00b\x00c\r\n", fine),
			does("a", resultOf(1, "0"), leased(1, "1 5\r\na\x00b\x00c"))),
		of(3, only("a", add(1, ping+" 2")+"hi"), pause(100), does("a", "\r\n", fine)),
		of(4, does("a", "lease none 200\r\ninspect queues 0 1\r\n", timeout+"+OK 0\r\n")),
		of(5,
			does("a", put(1, ping+" -max-attempts=1 -max-fails=5 -priority=7"), fine),
			does("a", put(2, ping+" -priority=3"), fine),
			does("a", now, leased(1, hi))),
		of(6, does("a", put(1, ping+" -priority=x"), client), does("a", put(1, ping), fine)),
		of(7, does("a", put(1, ping+" -priority"), client)),
		of(13, does("a", put(1, ping+" -priority=-2147483649"), client)),
		of(14,
			does("a", put(1, ping), fine),
			does("a", now, leased(1, hi)),
			does("a", "complete "+id(1)+" 100000\r\n"+long+"\r\n", fine),
			does("a", resultOf(1, "0"), leased(1, "1 100000\r\n"+long))),
		of(23, does("a", sched(1, "ping 1000 60000 2031-02-30T00:00:00Z"), client)),
		of(26,
			does("a", put(1, ping), fine),
			does("a", now, leased(1, hi)),
			does("a", "complete "+id(1)+" 0\r\n\r\n", fine),
			does("a", resultOf(1, "0"), leased(1, "1 0\r\n"))),
		of(40, does("a", report(1, "complete"), missing)),
	}
}

func lives() []script {
	return []script{
		of(8,
			does("a", put(1, ping), fine),
			does("a", now, leased(1, hi)),
			does("b", put(1, ping), whatever),
			does("b", now, timeout)),
		of(9,
			does("a", put(1, "ping 1000 300"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "complete"), fine),
			pause(500),
			does("a", "inspect server\r\n", ok("server 3", "active-clients 1", "evicted-jobs 0", "started <*>"))),
		of(10,
			does("a", put(1, "ping 5000 600"), fine),
			pause(400),
			does("a", now, leased(1, "ping 5000 2\r\nhi")),
			pause(400),
			does("a", "inspect job "+id(1)+"\r\n", missing)),
		of(11,
			does("a", put(1, "ping 1000 300"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "complete"), fine),
			pause(500),
			does("a", resultOf(1, "0"), missing)),
		of(12,
			does("a", put(1, "ping 1000 18446744073709551615"), fine),
			pause(50),
			does("a", now, leased(1, hi))),
		of(37,
			does("a", put(1, ping), fine),
			does("a", "delete "+id(1)+"\r\n", fine),
			does("a", put(1, ping), fine)),
	}
}

func queues() []script {
	return []script{
		of(19,
			does("a", put(1, "ping 100 60000 -priority=9"), fine),
			does("a", put(2, ping+" -priority=5"), fine),
			does("a", now, leased(1, "ping 100 2\r\nhi")),
			pause(200),
			does("a", now, leased(1, "ping 100 2\r\nhi"))),
		of(20,
			does("a", put(1, ping+" -priority=-2147483648"), fine),
			does("a", put(2, ping+" -priority=2147483647"), fine),
			does("a", now, leased(2, hi))),
		of(21,
			does("a", put(1, ping+" -priority=5"), fine),
			does("a", put(2, ping+" -priority=1"), fine),
			does("a", put(3, ping+" -priority=10"), fine),
			does("a", now, leased(3, hi))),
		of(22,
			does("a", sched(1, "ping 1000 60000 {+5}"), fine),
			does("a", sched(2, "ping 1000 60000 {+1}"), fine),
			does("a", "lease ping 1500\r\n", leased(2, hi))),
		of(36,
			does("a", put(1, ping+" -priority=3"), fine),
			does("a", put(2, ping+" -priority=2"), fine),
			does("a", put(3, ping+" -priority=1"), fine),
			does("a", "delete "+id(3)+"\r\n", fine),
			does("a", now, leased(1, hi)),
			does("a", now, leased(2, hi)),
			does("a", now, timeout)),
	}
}

func waits() []script {
	return []script{
		of(16,
			only("a", "lease ping 1500\r\n"),
			pause(50),
			only("b", "lease ping 1500\r\n"),
			pause(50),
			does("c", put(1, ping), fine),
			gets("a", leased(1, hi)),
			pause(100),
			does("c", put(2, ping), fine),
			gets("b", leased(2, hi))),
		of(25,
			only("a", runs(1, "ping 1000 200")),
			does("b", "lease ping 1000\r\n", leased(1, hi)),
			pause(400),
			does("b", report(1, "complete"), fine),
			gets("a", leased(1, "1 2\r\nok"))),
		of(27,
			only("a", runs(1, "ping 1000 1000 -priority=2")),
			pause(50),
			only("b", runs(2, "ping 1000 1000 -priority=1")),
			pause(50),
			does("c", now, leased(1, hi)),
			does("c", now, leased(2, hi)),
			does("c", report(1, "complete"), fine),
			gets("a", leased(1, "1 2\r\nok")),
			does("c", report(2, "complete"), fine),
			gets("b", leased(2, "1 2\r\nok"))),
		of(28,
			does("c", put(1, ping), fine),
			only("a", resultOf(1, "1500")),
			pause(50),
			only("b", resultOf(1, "1500")),
			pause(50),
			does("c", now, leased(1, hi)),
			does("c", report(1, "complete"), fine),
			gets("a", leased(1, "1 2\r\nok")),
			gets("b", leased(1, "1 2\r\nok"))),
		of(30,
			only("a", "lease one two 1500\r\n"),
			pause(50),
			does("b", put(1, "one 1000 60000"), fine),
			gets("a", leased(1, "one 1000 2\r\nhi"))),
		of(31,
			does("a", "lease ping 100\r\n", timeout),
			does("b", put(1, ping), fine),
			does("b", now, leased(1, hi))),
	}
}

func reports() []script {
	return []script{
		of(15,
			does("a", put(1, ping+" -max-attempts=2 -max-fails=5"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "fail"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "fail"), fine),
			does("a", now, timeout)),
		of(18,
			does("a", put(1, "ping 100 60000 -max-fails=1"), fine),
			does("a", now, leased(1, "ping 100 2\r\nhi")),
			pause(200),
			does("a", now, leased(1, "ping 100 2\r\nhi"))),
		of(29,
			does("a", put(1, ping+" -max-fails=3"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "fail"), fine),
			does("a", resultOf(1, "100"), timeout)),
		of(32,
			does("a", put(1, "ping 600 60000 -max-fails=3"), fine),
			does("a", now, leased(1, "ping 600 2\r\nhi")),
			pause(300),
			does("a", report(1, "fail"), fine),
			does("a", now, leased(1, "ping 600 2\r\nhi")),
			pause(400),
			does("b", now, timeout)),
		of(33,
			does("a", put(1, "ping 100 60000"), fine),
			does("a", now, leased(1, "ping 100 2\r\nhi")),
			pause(200),
			does("a", report(1, "complete"), fine),
			does("a", now, timeout)),
		of(34,
			does("a", put(1, "ping 200 60000 -max-fails=3"), fine),
			does("a", now, leased(1, "ping 200 2\r\nhi")),
			does("b", "lease ping 1000\r\n", leased(1, "ping 200 2\r\nhi")),
			does("b", report(1, "complete"), fine),
			does("a", report(1, "fail"), whatever),
			does("a", now, timeout)),
		of(35,
			does("a", put(1, ping+" -max-fails=2"), fine),
			does("a", now, leased(1, hi)),
			does("a", report(1, "fail"), fine),
			does("a", now, leased(1, hi)),
			does("a", "fail "+id(1)+" 3\r\nbad\r\n", fine),
			does("a", resultOf(1, "0"), leased(1, "0 3\r\nbad"))),
	}
}

func looks() []script {
	return []script{
		of(17,
			does("a", put(1, "ping 100 60000 -max-attempts=1"), fine),
			does("a", now, leased(1, "ping 100 2\r\nhi")),
			pause(200),
			does("a", "inspect job "+id(1)+"\r\n", keys(1, "ping", "100", "60000", [6]int{1, 1, 0, 0, 0, 2}))),
		of(24,
			does("a", sched(1, later), fine),
			does("a", "delete "+id(1)+"\r\n", fine),
			does("a", "inspect queue ping\r\n", ok("ping 2", "ready-len 0", "scheduled-len 0"))),
		of(38,
			does("a", sched(1, later), fine),
			does("a", sched(2, later), fine),
			does("a", "inspect scheduled-jobs ping 1 1\r\n",
				keys(2, "ping", "1000", "60000", [6]int{}, "time 2031-01-01T00:00:00Z"))),
		of(39,
			does("a", sched(1, "ping 1000 60000 {+1}"), fine),
			pause(1200),
			does("a", "inspect job "+id(1)+"\r\n", keys(1, "ping", "1000", "60000", [6]int{}, "time <*>"))),
	}
}
