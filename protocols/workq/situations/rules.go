package situations

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/protocols/workq"
	"github.com/fwpsuite/fwp/reports"
)

// longestWait is what counts as reasonably low for the wait-timeout of a lease, of which the document says that a
// minute is a good begin.
const longestWait = time.Hour

// command judges a command as far as it can be read. The lock of the session is held.
func (c *conn) command(command workq.Command, whole []byte, err error) {
	s, verb := c.session, command.Verb
	l := c.line(reports.FromClient, strings.TrimSuffix(shown(whole), `\r\n`))
	s.Show(l)
	c.first(whole)
	if len(c.waiting) > 0 {
		s.Wrong("CLI-04", "each command after the reply to the previous one",
			fmt.Sprintf("%s before the reply to %s", verb, c.waiting[0]), l)
	} else if c.count > 0 {
		s.Kept("CLI-04")
	}
	c.count++
	c.waiting = append(c.waiting, verb)
	if bad, is := errors.AsType[*workq.CommandError](err); is {
		c.malformed(bad, whole, l)
		return
	}
	s.Kept("CLI-05")
	s.Kept("CLI-06")
	switch verb {
	case workq.Lease:
		c.leases(command, l)
	case workq.Complete, workq.Fail:
		s.Kept("CLI-07")
		if len(command.Block) > workq.MaxBlock/2 {
			s.Kept("CLI-08")
		}
		c.reports(command, l)
	}
}

// first keeps what the program has sent first. The lock is held.
func (c *conn) first(whole []byte) {
	s := c.session
	line, _, _ := bytes.Cut(whole, []byte("\r\n"))
	if s.line == "" {
		s.line = shown(line)
	}
	word, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	switch verb := strings.ToLower(word); verb {
	case workq.Lease, workq.Complete, workq.Fail, workq.Add, workq.Schedule, workq.Run, workq.Result, workq.Delete,
		workq.Inspect:
		if s.first == "" {
			s.first = verb
		}
	}
}

// malformed names the clause that a malformed command breaks. The lock is held.
func (c *conn) malformed(bad *workq.CommandError, whole []byte, l reports.Line) {
	s, clause, expected := c.session, "CLI-06", "a command as in the document"
	line, _, _ := bytes.Cut(whole, []byte("\r\n"))
	command, lineErr := workq.ParseLine(string(line))
	isReport := command.Verb == workq.Complete || command.Verb == workq.Fail
	size, _ := strconv.ParseUint(string(line[bytes.LastIndexByte(line, ' ')+1:]), 10, 63)
	switch {
	case lineErr == nil:
		clause, expected = "CLI-07", "a block of as many bytes as its line says, and then CRLF"
	case isReport && bad.Part == "size" && size > workq.MaxBlock:
		clause, expected = "CLI-08", "a result of at most 1 MiB"
	}
	s.Wrong(clause, expected, bad.Reason+": "+shown(line), l)
	s.spoiled = clause
}

// leases judges a lease. The lock is held.
func (c *conn) leases(command workq.Command, l reports.Line) {
	s := c.session
	if c.last != nil && c.last.next == 0 {
		c.last.next = l.At
	}
	for _, name := range command.Names {
		s.names[name] = true
	}
	wait := longestWait + 1
	if command.Wait <= uint64(longestWait/time.Millisecond) {
		wait = time.Duration(command.Wait) * time.Millisecond //nolint:gosec // at most an hour
		s.Kept("CLI-03")
	} else {
		s.Wrong("CLI-03", "a reasonably low wait-timeout: 60000 is a good start",
			fmt.Sprintf("a lease waits for %d ms", command.Wait), l)
	}
	s.longest = max(s.longest, wait)
}

// reports judges a report. The lock is held.
func (c *conn) reports(command workq.Command, l reports.Line) {
	const most = 100
	s, k := c.session, c.session.jobs[command.ID]
	if k == nil || len(k.leases) == 0 {
		s.Wrong("CLI-15", "the id of a job that the worker leased", "no lease returned the job "+command.ID, l)
		s.spoiled = "CLI-15"
		return
	}
	s.Kept("CLI-15")
	received := 0
	for _, r := range k.report {
		if r.answered || !r.conn.ended {
			received++
		}
	}
	if received >= len(k.leases) {
		s.Wrong("CLI-13", "one report for each lease", fmt.Sprintf(
			"%s for the job %s, which was leased %d times and already reported as often", command.Verb, k.id, len(k.leases)),
			l)
	} else {
		s.Kept("CLI-13")
		c.outcome(k, k.leases[received], command, l)
	}
	if len(k.report) < most {
		c.report = &report{at: l.At, verb: command.Verb, conn: c}
		k.report = append(k.report, c.report)
	}
}

// outcome judges how a job is reported behind a lease: whether it has succeeded, and with which result. Of those that
// have no report it is the oldest: the job may have been leased again meanwhile. The lock is held.
func (c *conn) outcome(k *known, from *lease, command workq.Command, l reports.Line) {
	s, complete := c.session, command.Verb == workq.Complete
	ran := l.At - from.at
	clause, expected, got := "CLI-14", "", ""
	switch {
	case complete == (k.name == fails):
		switch {
		case complete:
			expected, got = "fail for a job that failed", "complete"
		case ran >= k.ttr || k.takes >= k.ttr: // the worker has stopped it, or was too slow
			return
		case k.name == sleep:
			clause, expected = "CLI-17", fmt.Sprintf("a job that runs for %v, within its time to run of %v", k.takes, k.ttr)
			got = fmt.Sprintf("fail after %v", ran.Round(time.Millisecond))
		default:
			expected, got = "complete for a job that succeeded", "fail"
		}
	case complete && ran+fwpsituations.TimerSlack < k.takes:
		expected, got = fmt.Sprintf("complete after the job ran for %v", k.takes),
			fmt.Sprintf("complete after %v", ran.Round(time.Millisecond))
	case complete && k.takes > k.ttr:
		clause, expected = "CLI-01", fmt.Sprintf("an end of the job after its time to run of %v", k.ttr)
		got = fmt.Sprintf("complete after %v, at the end of the job", ran.Round(time.Millisecond))
	}
	if got != "" {
		s.Wrong(clause, expected, fmt.Sprintf("%s for the job %s with the name %s", got, k.id, k.name), l)
		return
	}
	s.Kept("CLI-14")
	if k.name == sleep && k.takes < k.ttr {
		s.Kept("CLI-17")
	}
	if k.name == echo {
		c.echoed(k, command.Block, l)
	}
}

// echoed judges the result of a job that has the payload as its result. The lock is held.
func (c *conn) echoed(k *known, result []byte, l reports.Line) {
	if string(result) == k.payload {
		c.session.Kept("CLI-09")
		return
	}
	at := 0
	for at < min(len(result), len(k.payload)) && result[at] == k.payload[at] {
		at++
	}
	c.session.Wrong("CLI-09", fmt.Sprintf("the payload of %d bytes as the result", len(k.payload)),
		fmt.Sprintf("a result of %d bytes that differs from byte %d on: %s", len(result), at,
			shown(result[max(0, at-10):])), l)
}
