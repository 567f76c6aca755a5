package workercheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// echoed are arguments that every language can tell apart: PHP has one value for an empty object and an empty array.
var echoed = []string{
	`[1,2,3]`, `["a","b"]`, `[]`, `[""]`, `[null,true,false,0]`, `["1",1,"null",null]`, `[[1,2],[3,[4]]]`,
	`[{"a":[1,{"b":"c"}]},"after it"]`, `["before it",{"key":"value","other":[]}]`, `[[1,2]]`, `[3,1,2,1,1]`,
	`[1,null,null]`, `["2024-01-02T03:04:05+02:00","007","1e3",1.5,-2]`, `["ünï",[1,{"a":null}],"\"x\""]`,
	`["line\nbreak","\ttab"," spaces "]`,
}

// echoes has a worker run jobs whose failure names their arguments, and compares these.
func echoes(b *bed) {
	p := b.launch(options{})
	var jids []string
	for _, args := range echoed {
		jids = append(jids, b.push(job{jobtype: "fwp.echo", args: args}))
	}
	b.reported(p, settled, jids...)
	compared := 0
	for i, jid := range jids {
		fail := b.reportOf(jid)
		if fail == nil || fail.Command.Verb != fwp.FAIL {
			continue
		}
		message, _ := fail.Object["message"].(string)
		got, has := arrayIn(message)
		want, err := jsonnum.Decode([]byte(echoed[i]))
		if err != nil {
			panic(err) // it is one of the constants above
		}
		if !has {
			continue
		}
		compared++
		if !sameValue(want, got) {
			b.holds("WRK-15", false, "the arguments "+echoed[i], "the job got the arguments "+brief(got))
			b.at(fail)
			return
		}
	}
	if compared < len(jids) {
		b.open("WRK-15", fmt.Sprintf("the message of %d of %d jobs of type fwp.echo has no JSON array, or they have no FAIL",
			len(jids)-compared, len(jids)))
		return
	}
	b.holds("WRK-15", true, "", "")
}

// arrayIn returns the first JSON array in a text, which may have other words around it.
func arrayIn(text string) (array any, has bool) {
	for rest := text; ; {
		_, behind, found := strings.Cut(rest, "[")
		if !found {
			return nil, false
		}
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader("["+behind)).Decode(&raw) == nil {
			v, err := jsonnum.Decode(bytes.TrimSpace(raw))
			return v, err == nil
		}
		rest = behind
	}
}

// retried has jobs fail that the server delivers again a second later, and decides whether each delivery has a report.
func retried(b *bed) {
	const jobs, deliveries = 2, 3
	p := b.launch(options{})
	var jids []string
	for range jobs {
		jids = append(jids, b.push(job{jobtype: "fwp.fail", args: `["again"]`, more: `,"retry":2`}))
	}
	of := func(jid string, that is) int {
		return b.count(func(e *monitor.Event) bool {
			return that(e) && (e.Kind == monitor.Line && e.Object["jid"] == jid || e.Kind == monitor.Reply && jidOf(e) == jid)
		})
	}
	all := func(that is) bool {
		for _, jid := range jids {
			if of(jid, that) < deliveries {
				return false
			}
		}
		return true
	}
	b.until(settled, func() bool { return all(line(fwp.FAIL)) || b.exited(p) })
	b.watchUntilEnd(p, time.Second)
	if b.until(reportPatience, func() bool { return all(delivered) || b.exited(p) }); b.count(delivered) <= jobs {
		b.giveUp(true, "no job was delivered again within %v", settled+reportPatience)
	}
	for _, jid := range jids {
		n := of(jid, delivered)
		b.until(reportPatience, func() bool { return of(jid, line(fwp.FAIL)) >= n })
		got := of(jid, line(fwp.FAIL)) + of(jid, line(fwp.ACK))
		b.holds("FETCH-09", got >= n, "a report for each delivery of a job",
			fmt.Sprintf("the job %s was delivered %d times and reported %d times", jid, n, got))
	}
}
