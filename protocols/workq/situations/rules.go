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
func (c *conn) command(command workq.Command, raw []byte, err error) {
	s, verb := c.session, command.Verb
	l := c.line(reports.FromClient, strings.TrimSuffix(excerpt(raw), `\r\n`))
	s.Show(l)
	c.recordFirst(raw)
	if len(c.pendingVerbs) > 0 {
		s.DecideBroken("CLI-04", "each command after the reply to the previous one",
			fmt.Sprintf("%s before the reply to %s", verb, c.pendingVerbs[0]), l)
	} else if c.count > 0 {
		s.NoteOccasion("CLI-04")
	}
	c.count++
	c.pendingVerbs = append(c.pendingVerbs, verb)
	if bad, ok := errors.AsType[*workq.CommandError](err); ok {
		c.reportMalformed(bad, raw, l)
		return
	}
	s.NoteOccasion("CLI-05")
	s.NoteOccasion("CLI-06")
	switch verb {
	case workq.Lease:
		c.checkLease(command, l)
	case workq.Complete, workq.Fail:
		s.NoteOccasion("CLI-07")
		if len(command.Block) > workq.MaxBlock/2 {
			s.NoteOccasion("CLI-08")
		}
		c.checkReport(command, l)
	}
}

// recordFirst keeps what the program has sent first. The lock is held.
func (c *conn) recordFirst(raw []byte) {
	s := c.session
	line, _, _ := bytes.Cut(raw, []byte("\r\n"))
	if s.line == "" {
		s.line = excerpt(line)
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

// reportMalformed names the clause that a malformed command breaks. The lock is held.
func (c *conn) reportMalformed(bad *workq.CommandError, raw []byte, l reports.Line) {
	s, clause, expected := c.session, "CLI-06", "a command as in the document"
	line, _, _ := bytes.Cut(raw, []byte("\r\n"))
	command, lineErr := workq.ParseLine(string(line))
	isReport := command.Verb == workq.Complete || command.Verb == workq.Fail
	size, _ := strconv.ParseUint(string(line[bytes.LastIndexByte(line, ' ')+1:]), 10, 63)
	switch {
	case lineErr == nil:
		clause, expected = "CLI-07", "a block of as many bytes as its line says, and then CRLF"
	case isReport && bad.Part == "size" && size > workq.MaxBlock:
		clause, expected = "CLI-08", "a result of at most 1 MiB"
	}
	s.DecideBroken(clause, expected, bad.Reason+": "+excerpt(line), l)
	s.brokenClause = clause
}

// checkLease judges a lease. The lock is held.
func (c *conn) checkLease(command workq.Command, l reports.Line) {
	s := c.session
	if c.lastLease != nil && c.lastLease.nextAt == 0 {
		c.lastLease.nextAt = l.At
	}
	for _, name := range command.Names {
		s.names[name] = true
	}
	wait := longestWait + 1
	if command.Wait <= uint64(longestWait/time.Millisecond) {
		wait = time.Duration(command.Wait) * time.Millisecond //nolint:gosec // at most an hour
		s.NoteOccasion("CLI-03")
	} else {
		s.DecideBroken("CLI-03", "a reasonably low wait-timeout: 60000 is a good start",
			fmt.Sprintf("a lease waits for %d ms", command.Wait), l)
	}
	s.longestLease = max(s.longestLease, wait)
}

// checkReport judges a report. The lock is held.
func (c *conn) checkReport(command workq.Command, l reports.Line) {
	const limit = 100
	s, k := c.session, c.session.jobs[command.ID]
	if k == nil || len(k.leases) == 0 {
		s.DecideBroken("CLI-15", "the id of a job that the worker leased", "no lease returned the job "+command.ID, l)
		s.brokenClause = "CLI-15"
		return
	}
	s.NoteOccasion("CLI-15")
	reportCount := 0
	for _, r := range k.reports {
		if r.isAnswered || !r.conn.isClosed {
			reportCount++
		}
	}
	if reportCount >= len(k.leases) {
		s.DecideBroken("CLI-13", "one report for each lease", fmt.Sprintf(
			"%s for the job %s, which was leased %d times and already reported as often", command.Verb, k.id, len(k.leases)),
			l)
	} else {
		s.NoteOccasion("CLI-13")
		c.checkOutcome(k, k.leases[reportCount], command, l)
	}
	if len(k.reports) < limit {
		c.report = &report{at: l.At, verb: command.Verb, conn: c}
		k.reports = append(k.reports, c.report)
	}
}

// checkOutcome judges how a job is reported behind a lease: whether it has succeeded, and with which result. Of those
// that have no report it is the oldest: the job may have been leased again meanwhile. The lock is held.
func (c *conn) checkOutcome(k *addedJob, from *lease, command workq.Command, l reports.Line) {
	s, complete := c.session, command.Verb == workq.Complete
	elapsed := l.At - from.at
	clause, expected, got := "CLI-14", "", ""
	switch {
	case complete == (k.name == failJob):
		switch {
		case complete:
			expected, got = "fail for a job that failed", "complete"
		case elapsed >= k.ttr || k.duration >= k.ttr: // the worker has stopped it, or was too slow
			return
		case k.name == sleepJob:
			clause, expected = "CLI-17", fmt.Sprintf("a job that runs for %v, within its time to run of %v", k.duration, k.ttr)
			got = fmt.Sprintf("fail after %v", elapsed.Round(time.Millisecond))
		default:
			expected, got = "complete for a job that succeeded", "fail"
		}
	case complete && elapsed+fwpsituations.TimerSlack < k.duration:
		expected, got = fmt.Sprintf("complete after the job ran for %v", k.duration),
			fmt.Sprintf("complete after %v", elapsed.Round(time.Millisecond))
	case complete && k.duration > k.ttr:
		clause, expected = "CLI-01", fmt.Sprintf("an end of the job after its time to run of %v", k.ttr)
		got = fmt.Sprintf("complete after %v, at the end of the job", elapsed.Round(time.Millisecond))
	}
	if got != "" {
		s.DecideBroken(clause, expected, fmt.Sprintf("%s for the job %s with the name %s", got, k.id, k.name), l)
		return
	}
	s.NoteOccasion("CLI-14")
	if k.name == sleepJob && k.duration < k.ttr {
		s.NoteOccasion("CLI-17")
	}
	if k.name == echoJob {
		c.checkEcho(k, command.Block, l)
	}
}

// checkEcho judges the result of a job that has the payload as its result. The lock is held.
func (c *conn) checkEcho(k *addedJob, result []byte, l reports.Line) {
	if string(result) == k.payload {
		c.session.NoteOccasion("CLI-09")
		return
	}
	at := 0
	for at < min(len(result), len(k.payload)) && result[at] == k.payload[at] {
		at++
	}
	c.session.DecideBroken("CLI-09", fmt.Sprintf("the payload of %d bytes as the result", len(k.payload)),
		fmt.Sprintf("a result of %d bytes that differs from byte %d on: %s", len(result), at,
			excerpt(result[max(0, at-10):])), l)
}
