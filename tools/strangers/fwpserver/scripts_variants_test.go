package main

import (
	"fmt"
	"time"
)

// witnesses show that a variant differs: each passes there, and fails on the right server.
var witnesses = []script{
	{number: 1, steps: `
		open a
		hi a {"name":"stranger"}`},
	{number: 2, steps: `
		a push j1 "queue":"q"
		a get q = raw:"queue" : "q" ,`},
	{number: 3, steps: `
		a> INFO
		a< raw:connections: 1`},
	{number: 4, steps: `
		a ack j1`},
	{number: 5, steps: `
		a> NONSENSE
		a< raw:-EREQ`},
	{number: 6, steps: `
		open a
		a> NONSENSE
		a< -
		a<1000ms eof`},
	{number: 7, steps: `
		produce a` + times(3, `
		a> NONSENSE
		a< -`) + `
		a<1000ms eof`},
	{number: 8, steps: `
		a> END
		a< eof`},
	{number: 9, steps: `
		work a W-0123456789
		signal quiet
		a> BEAT {"wid":"W-0123456789"}
		a< raw:+{"state":"quiet"}`},
	{number: 10, steps: `
		a> INFO
		a< none`},
	{number: 11, run: manyPieces},
	{number: 12, wait: longWait, steps: `
		meet a b
		a> FETCH q1 q2
		waiting 1
		b push j1 "queue":"q2"
		a< j1`},
	{number: 13, run: shorterWait},
	{number: 14, steps: `
		a push j1 "queue":"q"
		a push j2 "queue":"q"
		a get q = j2`},
	{number: 15, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		a push j2 "queue":"q"
		advance 60s
		a get q = j1`},
	{number: 16, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		advance 14s
		a get q = nil`},
	{number: 17, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a fail j1
		advance 2s
		a get q = j1`},
	{number: 18, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		advance 62s
		a get q = j1`},
	{number: 19, steps: `
		a push j1
		a> PUSH {"jid":"%j1","jobtype":"t","args":[]}
		a< -`},
	{number: 20, steps: `
		produce a
		a> FETCH q
		a< -`},
	{number: 21, steps: `
		work a W-0123456789
		open b
		b> HELLO {"v":2,"wid":"W-0123456789","hostname":"other","pid":1,"labels":[]}
		b< +OK`},
	{number: 22, steps: `
		a push j1
		a get = j1 {"retry":25,"reserve_for":1800,"backtrace":0}`},
	{number: 23, steps: `
		a push j1 "retry":25,"queue":"default"
		a get = j1 {"retry":null,"queue":null}`},
	{number: 24, steps: `
		a push j1 "args":[1.0,"<"]
		a get = raw:[1,"\u003c"]`},
	{number: 25, steps: `
		a push j1
		a get = raw:+02:00"`},
	{number: 26, steps: `
		a push j1 "reserve_for":5`},
	{number: 27, steps: `
		a> PUSH {"jid":"%j1","jobtype":"t","args":["` + long(600<<10) + `"]}
		a< -`},
	{number: 28, steps: `
		a push j1
		a get = j1
		a> FAIL {"jid":"%j1"}
		a< -`},
	{number: 29, steps: `
		a push j1
		a get = j1
		a fail j1
		advance 60s
		a get = j1 {"failure":{"class":"E","text":"oh"}}`},
	{number: 30, steps: `
		a> HELLO {"v":2}
		a< +OK`},
}

// manyPieces counts the segments of a reply.
func manyPieces(r *rig) error {
	c, err := r.get("a")
	if err != nil {
		return err
	}
	if err := c.send("INFO\r\n"); err != nil {
		return err
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(silence))
	buffer := make([]byte, 64<<10)
	reads := 0
	for {
		if _, err := c.nc.Read(buffer); err != nil {
			break
		}
		reads++
	}
	if reads < 3 {
		return fmt.Errorf("the reply came in %d pieces", reads)
	}
	return nil
}

func shorterWait(r *rig) error {
	if r.server.wait != testWait*8/10 {
		return fmt.Errorf("FETCH waits %s", r.server.wait)
	}
	return nil
}
