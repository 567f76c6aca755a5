package workercheck

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// jobSituations are about the outcome of jobs. (ACK; FAIL)
func jobSituations() []Situation {
	return []Situation{
		{
			ID: "jobs/outcomes", Title: "each job has one report: ACK if it succeeded, FAIL if it failed",
			Clauses: always + " WRK-01 WRK-03 WRK-09 WRK-04 FETCH-09 FETCH-10 ACK-05 ACK-06 FAIL-04 FAIL-05",
			Wait:    2 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.holds("WRK-01", true, "", "")
				jids := b.pushes(6, "fwp.ok", "[1]")
				jids = append(jids, b.pushes(4, "fwp.fail", `["it failed on purpose"]`)...)
				jids = append(jids, b.pushes(3, "fwp.sleep", "[0.2]")...)
				jids = append(jids, b.pushes(12, "fwp.ok", `[1,"two",{"three":[3]}]`)...)
				b.worked(p, jids)
				b.brief(p)
			},
		},
		{
			ID: "jobs/unknown-type", Title: "a job of an unknown type is reported as failed, and the worker goes on",
			Clauses: "FETCH-09 FETCH-10 ACK-05 FAIL-04 FAIL-05", Wait: 2 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				jids := append(b.pushes(2, unknownType, `[1]`), b.pushes(3, "fwp.ok", "[1]")...)
				b.worked(p, jids)
			},
		},
		hostile("jids", "a jid is sent back as it is, whatever is in it", []job{
			{jid: `quote"quote"quote"quote`, jobtype: "fwp.ok"},
			{jid: `back\slash\\back\slash`, jobtype: "fwp.ok"},
			{jid: "ünïcødé-日本語-🦆-" + strings.Repeat("x", 12), jobtype: "fwp.ok"},
			{jid: "space in the middle of it", jobtype: "fwp.ok"},
			{jid: strings.Repeat("long-jid-", 20), jobtype: "fwp.ok"},
			{jid: "</script>&amp;<!-- 1234567890", jobtype: "fwp.fail", args: `["x"]`},
			{jid: "123456789012345678901234", jobtype: "fwp.ok"},
			{jid: "  spaces at both ends of it  ", jobtype: "fwp.ok"},
			{jid: "UPPER-case-AND-lower-case", jobtype: "fwp.fail", args: `["x"]`},
			{jid: "\t control \x01\x1f characters", jobtype: "fwp.ok"},
		}),
		hostile("arguments", "arguments of any kind reach the job, and the connection stays in step", []job{
			{jobtype: "fwp.ok", args: `["héllo wörld","日本語","🦆🦆","\u0000\u2028"]`},
			{jobtype: "fwp.ok", args: `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`},
			{jobtype: "fwp.ok", args: `[9007199254740993,-9223372036854775808,1e21,0.1,1.5e-9]`},
			{jobtype: "fwp.ok", args: `["line\r\nbreak","\tACK {}\r\n",""]`},
			{jobtype: "fwp.ok", args: `["` + strings.Repeat("é", 40_000) + `"]`},
			{jobtype: "fwp.ok", args: `[{},[],null,true,false]`},
			{jobtype: "fwp.ok", args: `[]`},
			{jobtype: "fwp.fail", args: `["ümläut, \"quotes\" and \\ back\nslashes 🦆"]`},
			{jobtype: "fwp.echo", args: `["ünï",[1,{"a":null}],"\"x\""]`},
			{jobtype: "fwp.fail", args: `[""]`},
			{jobtype: "fwp.fail", args: `["` + strings.Repeat("日", 1000) + `"]`}, // wherever it is cut, one of the two
			{jobtype: "fwp.fail", args: `["x` + strings.Repeat("日", 1000) + `"]`},
			{jobtype: "fwp.fail", args: `["` + strings.Repeat("日", 40_000) + `"]`},
			{jobtype: "fwp.fail", args: `["x` + strings.Repeat("日", 40_000) + `"]`},
		}),
		hostile("fields", "a job with fields that the worker does not know, or that are null, is executed", []job{
			{jobtype: "fwp.ok", more: `,"fwp_unknown":{"deep":[1,2]}`},
			{jobtype: "fwp.ok", more: `,"custom":null`},
			{jobtype: "fwp.ok", more: `,"custom":{"locale":"de","fwp":[1,null]}`},
			{jobtype: "fwp.ok", more: `,"retry":0,"backtrace":10,"reserve_for":1800`},
			{jobtype: "fwp.fail", args: `["x"]`, more: `,"retry":-1,"custom":null`},
			{jobtype: "fwp.fail", args: `["x"]`, more: `,"retry":0`},
			{jobtype: "fwp.ok", more: ",\r\n \"fwp_lines\":\r\n[1,\n\t2]"}, // its JSON has several lines
			{jobtype: "fwp.ok", more: `,"at":"1999-01-02T03:04:05.5Z","retry":25`},
			{
				jobtype: "fwp.ok",
				more:    `,"created_at":"2024-01-02T03:04:05.123456789+02:00","enqueued_at":"2024-01-02T03:04:06Z"`,
			},
			{
				jobtype: "fwp.ok",
				more:    `,"failure":{"retry_count":3,"remaining":22,"failed_at":"2024-01-02T03:04:05Z","message":"x"}`,
			},
		}),
		{
			ID: "jobs/many", Title: "of many jobs none is forgotten, and none is reported twice",
			Clauses: "FETCH-09 FETCH-10 ACK-05 FAIL-04", Wait: 3 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{concurrency: 5})
				var jids []string
				for i := range 120 {
					if i%10 == 9 {
						jids = append(jids, b.push(job{jobtype: "fwp.fail", args: fmt.Sprintf(`["job %d"]`, i)}))
					} else {
						jids = append(jids, b.push(job{jobtype: "fwp.ok", args: fmt.Sprint("[", i, "]")}))
					}
				}
				b.worked(p, jids)
			},
		},
		{
			ID: "jobs/echo", Title: "a job is executed with its arguments, in their order",
			Clauses: "WRK-15", Wait: 2 * time.Second, Play: echoes,
		},
		{
			ID: "jobs/retried", Title: "a job that is delivered again after its FAIL is executed and reported again",
			Clauses: "FETCH-09 FETCH-10 FAIL-04", Wait: 5 * time.Second,
			Server: func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } },
			Play:   retried,
		},
		{
			ID: "jobs/killed", Title: "a job is acknowledged after it ran and not before",
			Clauses: "WRK-07", Wait: 4 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				jids := b.pushes(1, "fwp.sleep", "[4]")
				b.mustFetch()
				b.watchUntilEnd(p, 2*time.Second)
				early := b.reportOf(jids[0])
				b.holds("WRK-07", early == nil, "no report while the job runs",
					"the job was reported while it ran, so that it would be lost if the worker died")
				if early != nil {
					b.at(early)
				}
				b.reported(p, settled, jids...)
			},
		},
		{
			ID: "jobs/reservation", Title: "a job that is delivered again when its reservation is over is reported",
			Clauses: "FETCH-09 FETCH-10 RESP-09", Wait: 75 * time.Second,
			Server: func(c *fakes.Config) { c.RetryDelay = func(int) time.Duration { return time.Second } },
			Play:   outlived,
		},
		{
			ID: "workers/two", Title: "processes have different worker ids, also those that start at the same time",
			Clauses: "HELLO-10", Wait: time.Second,
			Play: func(b *bed) {
				var procs []*proc
				for range 3 {
					procs = append(procs, b.launch(options{unwarmed: true}))
				}
				for _, p := range procs {
					if err := b.warm(p); err != nil {
						b.giveUp(true, "%s", firstLine(err.Error()))
					}
					b.mustFetchAtAll(p)
				}
				b.sameWids(procs)
			},
		},
	}
}

// outlived hands a worker a job that takes longer than its reservation. The server delivers it again, as one that ends
// at once, and does not know it any more when the first execution ends.
func outlived(b *bed) {
	const reserved, runs = 60 * time.Second, 66
	p := b.launch(options{})
	first := fmt.Sprintf(`"args":[%d]`, runs)
	j := job{
		jid: "fwp" + strings.ToLower(rand.Text()), jobtype: "fwp.sleep", args: fmt.Sprint("[", runs, "]"),
		more: fmt.Sprintf(`,"reserve_for":%d`, int(reserved.Seconds())),
	}
	deliveries := 0 // counted by the server, one at a time
	b.push(j)
	b.steer(func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString &&
			bytes.Contains(e.Reply.Text, []byte(j.jid)) {
			if deliveries++; deliveries > 1 {
				e.Reply.Text = bytes.Replace(e.Reply.Text, []byte(first), []byte(`"args":[0]`), 1)
			}
		}
	})
	b.mustFetch()
	reports := p.of(func(e *monitor.Event) bool {
		return (e.Verb() == fwp.ACK || e.Verb() == fwp.FAIL) && e.Object["jid"] == j.jid
	})
	b.until((runs+9)*time.Second, func() bool { return b.count(reports) >= 2 || b.exited(p) })
	if b.exited(p) {
		b.giveUp(true, "the worker ended")
	}
	b.watchUntilEnd(p, grace)
	if n := b.count(p.of(func(e *monitor.Event) bool { return delivered(e) && jidOf(e) == j.jid })); n < 2 {
		b.giveUp(true, "the job was delivered %d time, and not again when its reservation was over", n)
	}
	b.holds("FETCH-09", b.count(reports) > 0, "an ACK or a FAIL", "no report on a job that was delivered twice")
	b.itWorks(p, "RESP-09", "a worker that goes on fetching and reporting")
}

// commandsOfJob is how many commands a connection carries that is opened for each job: FETCH and a report.
const commandsOfJob = 2

// brief decides whether a process keeps its connections.
func (b *bed) brief(p *proc) {
	const many = 10
	commands := map[int]int{}
	counted := func(e *monitor.Event) bool { return e.Kind == monitor.Line || e.Kind == monitor.Opened }
	for _, e := range b.all(p.of(counted)) {
		if verb := e.Verb(); e.Kind == monitor.Opened {
			commands[e.Conn] = 0
		} else if verb != fwp.HELLO && verb != fwp.END {
			commands[e.Conn]++
		}
	}
	brief, all := 0, 0
	for _, n := range commands {
		all += n
		if n <= commandsOfJob {
			brief++
		}
	}
	b.holds("WRK-09", brief < many || 2*brief < all, "connections that carry many commands",
		fmt.Sprintf("%d of %d connections carried no more than one command, or one job", brief, len(commands)))
}

// hostile returns the situation of jobs with unusual contents.
func hostile(what, title string, jobs []job) Situation {
	return Situation{
		ID: "jobs/" + what, Title: title,
		Clauses: "FRAME-04 FRAME-09 FETCH-09 FETCH-10 ACK-05 FAIL-04", Wait: 2 * time.Second,
		Play: func(b *bed) {
			p := b.launch(options{})
			var jids []string
			for _, j := range jobs {
				jids = append(jids, b.push(j))
			}
			jids = append(jids, b.pushes(1, "fwp.ok", "[1]")...) // the connections are in step afterwards
			b.worked(p, jids)
		},
	}
}

// worked waits until all jobs are reported, watches for a moment what follows, and decides whether each has a report.
func (b *bed) worked(p *proc, jids []string) {
	missing := b.reportedInTime(p, jids)
	b.watchUntilEnd(p, time.Second)
	from := b.now()
	if len(missing) > 0 { // those that were delivered only now have as much time as any other
		missing = b.reported(p, reportPatience, b.onlyDelivered(jids)...)
	}
	missing = slices.DeleteFunc(missing, func(jid string) bool { return b.deliveryOf(jid).At > from })
	delivered := b.onlyDelivered(jids)
	if len(delivered) == 0 {
		b.giveUp(true, "the worker fetched none of the jobs within %v: it fetches from %s",
			settled, strings.Join(b.queuesSeen(p), " "))
	}
	b.holds("FETCH-09", len(missing) == 0, fmt.Sprintf("ACK or FAIL for each of %d jobs", len(delivered)),
		fmt.Sprintf("no report on %s within %v of the delivery", listed(missing), reportPatience))
	b.showMissing(missing)
	if len(missing) == 0 && len(delivered) < len(jids) {
		b.fetchesOn(p, len(jids)-len(delivered))
		b.open("FETCH-09", fmt.Sprintf("%d of %d jobs were not fetched within %v",
			len(jids)-len(delivered), len(jids), settled+reportPatience))
	}
}

// reportedInTime is reported for as long as the worker fetches: one that asks one queue after the other is slow.
func (b *bed) reportedInTime(p *proc, jids []string) (missing []string) {
	const step, most = 10 * time.Second, 90 * time.Second
	missing = b.reported(p, settled, jids...)
	before, limit := -1, b.now()+most
	for len(missing) > 0 && b.now() < limit {
		fetched := len(b.onlyDelivered(jids))
		if fetched == before || fetched == len(jids) || b.exited(p) {
			break
		}
		before = fetched
		missing = b.reported(p, step, jids...)
	}
	return missing
}

// idleWithJobs is how long a worker may send no FETCH while there are jobs for it and it runs none.
const idleWithJobs = 10 * time.Second

// fetchesOn finds a worker that has no job in hand and sends no FETCH, while there are jobs.
func (b *bed) fetchesOn(p *proc, waiting int) {
	last := b.now()
	if all := b.all(p.of(line(fwp.FETCH))); len(all) > 0 {
		last = all[len(all)-1].At
	}
	if idle := b.now() - last; idle > idleWithJobs && !b.exited(p) {
		b.holds("FETCH-11", false, "a FETCH, since the worker runs no job",
			fmt.Sprintf("%d jobs wait, and the worker has sent no FETCH for %.0f s", waiting, idle.Seconds()))
	}
}

// reportPatience is how long a job may take that ends at once.
const reportPatience = 10 * time.Second

// listed returns the first few jids.
func listed(jids []string) string {
	const few = 3
	if len(jids) <= few {
		return strings.Join(jids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(jids[:few], ", "), len(jids)-few)
}

// showMissing points at the delivery of the first job without a report.
func (b *bed) showMissing(jids []string) {
	if len(jids) > 0 {
		if e := b.deliveryOf(jids[0]); e != nil {
			b.at(e)
		}
	}
}

// jidOf returns the jid of a delivered job.
func jidOf(e *monitor.Event) string {
	var unit struct{ JID string }
	_ = json.Unmarshal(e.Reply.Text, &unit) // this program has made it
	return unit.JID
}

// queuesSeen returns the queues that a process has fetched from.
func (b *bed) queuesSeen(p *proc) []string {
	var queues []string
	for _, e := range b.all(p.of(line(fwp.FETCH))) {
		for _, q := range queuesOf(&e) {
			if !slices.Contains(queues, q) {
				queues = append(queues, q)
			}
		}
	}
	if len(queues) == 0 {
		return []string{"none, for it sent no FETCH"}
	}
	return queues
}

// sameWids decides whether processes have different worker ids.
func (b *bed) sameWids(procs []*proc) {
	of := map[string]*proc{}
	for _, p := range procs {
		wids := 0
		for _, e := range b.all(p.of(line(fwp.HELLO))) {
			wid, is := e.Object["wid"].(string)
			if !is {
				continue
			}
			wids++
			if other := of[wid]; other != nil && other != p {
				b.holds("HELLO-10", false, "different worker ids", fmt.Sprintf("two processes have the worker id %q", wid))
				b.at(&e)
				return
			}
			of[wid] = p
		}
		if wids == 0 {
			b.giveUp(false, "a process has no worker id")
		}
	}
	b.holds("HELLO-10", true, "", "")
}
