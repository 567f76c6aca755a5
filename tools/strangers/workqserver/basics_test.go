package main

// basics are scripts that hold for the right server and for every variant.
func basics() []script {
	return []script{
		{Name: "add", Steps: []step{
			does("a", put(1, ping+" -priority=2 -max-fails=2"), fine),
			does("a", put(2, ping+" -priority=-1"), fine),
			does("a", put(1, ping), whatever),
			does("a", now, leased(1, hi)),
			does("a", now, leased(2, hi)),
			does("a", now, timeout),
			does("a", report(1, "complete"), fine),
			does("a", report(2, "fail"), "<*>OK\r\n"),
			does("b", resultOf(1, "100"), leased(1, "1 2\r\nok")),
			does("b", resultOf(2, "100"), leased(2, "0 2\r\nok")),
		}},
		{Name: "malformed", Steps: []step{
			does("a", put(1, "pi/ng 1000 60000"), client),
			does("a", put(1, "ping 86400001 60000"), client),
			does("a", put(1, ping+" -max-attempts=256"), client),
			does("a", add(1, ping+" 1")+"hi\r\n", client),
			does("a", "lease ping\r\n", client),
			does("a", put(1, ping), fine),
		}},
		{Name: "times", Steps: []step{
			does("a", put(1, "ping 100 500"), fine),
			does("a", now, leased(1, "ping 100 2\r\nhi")),
			does("b", "lease ping 300\r\n", leased(1, "ping 100 2\r\nhi")),
			pause(600),
			does("a", resultOf(1, "0")+"lease ping 100\r\n", missing+timeout),
		}},
		{Name: "schedule", Steps: []step{
			does("a", sched(1, later), fine),
			does("a", now, timeout),
			does("a", "inspect queue ping\r\n", "<*>OK 1\r\nping 2\r\nready-len 0\r\nscheduled-len 1\r\n"),
			does("a", "delete "+id(1)+"\r\ndelete "+id(1)+"\r\n", fine+missing),
			does("a", sched(2, "ping 1000 60000 {+1}"), fine),
			does("a", "lease ping 1500\r\n", leased(2, hi)),
		}},
		{Name: "run", Steps: []step{
			does("a", runs(1, "ping 1000 100"), timeout),
			only("a", runs(2, "ping 1000 1000")),
			does("b", "lease pong ping 1000\r\n", leased(2, hi)),
			does("b", report(2, "fail"), "<*>OK\r\n"),
			gets("a", leased(2, "0 2\r\nok")),
			only("a", runs(3, "ping 100 1000")),
			does("b", "lease ping 1000\r\n", leased(3, "ping 100 2\r\nhi")),
			gets("a", timeout),
		}},
		{Name: "inspect", Steps: []step{
			does("a", put(1, "b 1000 60000"), fine),
			does("a", put(2, "a 1000 60000"), fine),
			does("a", "inspect queues 0 9\r\n", "<*>OK 2\r\na 2\r\nready-len 1\r\nscheduled-len 0\r\n"+
				"b 2\r\nready-len 1\r\nscheduled-len 0\r\n"),
			does("a", "inspect server\r\n", "<*>OK 1\r\nserver 3\r\nactive-clients 1\r\n"+
				"evicted-jobs 0\r\nstarted <*>\r\n"),
			does("a", "inspect job "+id(3)+"\r\n", missing),
		}},
	}
}
