package fwpsubject

import (
	"fmt"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios"
)

// leaks are inputs that a server may have kept something of, behind what a right client
// does: more bytes than any of the others.
func leaks() []explore.Leak {
	const conn, lines = 2, 64
	const filler = "$filler(64KiB)"
	opened := producer(conn)
	closed := explore.End(conn, scenarios.Closed)
	half := ahead(build().Bytes(conn, `PUSH {"jid":"`+filler))
	beat := fmt.Sprintf(`BEAT {"wid":"$wid%d","rss_kb":1,"fwpcheck":"%s"}`, fuzzedNames, filler)
	worker := consumer(conn, fuzzedNames)
	repeated := func(name string, n int, steps ...explore.Step) explore.Leak {
		return explore.Leak{Name: name, Trace: explore.Trace{Steps: steps, To: len(steps), N: n}}
	}
	sent := func(name string, first explore.Step, text string, n int) explore.Leak {
		steps := []explore.Step{first, line(conn, "%s", text), closed}
		return explore.Leak{Name: name, Trace: explore.Trace{Steps: steps, From: 1, To: 2, N: n}}
	}
	return []explore.Leak{
		sent("100 heartbeats of 64 KiB", worker, beat, 100),
		repeated("300 connections that are opened and closed", 300, opened, closed),
		sent("4000 commands that are refused", opened, `ACK {"jid":5}`, 4000),
		sent("64 commands of 64 KiB that are refused", opened, "ACK "+filler, lines),
		repeated("64 lines of 64 KiB that end with their connection", lines, opened, half, closed),
	}
}
