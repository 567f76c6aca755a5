package situations

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/values"
	"github.com/fwpsuite/fwp/protocols/emqp"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
)

// waitLimit is how long something may take that needs no waiting.
const waitLimit = 20 * time.Second

// file returns a path for a job, and what counts the bytes that it has there.
func (s *session) file(name string) (path string, bytes func() int) {
	const limit = 1 << 20
	path = filepath.Join(s.folder, name)
	return path, func() int {
		b, _ := input.Read(path, limit) // without a file there are none
		return len(b)
	}
}

// job returns a message with the words of a job; texts are JSON strings.
func job(name string, words ...any) string {
	all := []string{values.Quote(name)}
	for _, w := range words {
		if text, ok := w.(string); ok {
			all = append(all, values.Quote(text))
		} else {
			all = append(all, fmt.Sprint(w))
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

// jobMessage returns the message of a job as the worker reads it.
func (s *session) jobMessage(message string) string {
	name, args, _ := strings.Cut(message[1:len(message)-1], ",")
	return s.Job(message, strings.Trim(name, `"`), "["+args+"]")
}

// awaitRequests waits until the program was sent all requests, and ends the play otherwise.
func (s *session) awaitRequests(n int) {
	if !s.WaitUntil(s.program, waitLimit, func() bool { return s.requestCount() >= n }) {
		s.GiveUp(true, "the worker was ready for %d of %d requests within %v; it %s", s.requestCount(), n, waitLimit,
			s.Ending(s.program))
	}
}

// texts are what a job can reply with.
func texts() []string {
	return []string{"a text", "héllo wörld ✓", `"quoted" \ text`, strings.Repeat("0123456789", 2_000)}
}

// requestReplies asks for replies to some requests.
func requestReplies(s *session) {
	var requests []*request
	for _, text := range texts() {
		requests = append(requests, replyRequest(job("fwp.echo", text)), &request{message: job("fwp.echo", "unasked "+text)})
	}
	slow := replyRequest(job("fwp.sleep", 1))
	slow.duration = time.Second
	requests = append(requests, replyRequest(job("fwp.ok")), &request{message: job("fwp.ok")}, slow)
	s.push(requests...)
	s.awaitRequests(len(requests))
	expected := len(texts()) + 2
	all := s.WaitUntil(s.program, waitLimit, func() bool { return s.replyCount() >= expected })
	s.Pass(s.program, 2*time.Second)
	got := fwpsituations.WithLock(&s.mu, func() []string { return slices.Clone(s.replies) })
	hasAll := true
	for _, text := range texts() {
		isFound := hasReply(got, text)
		hasAll = hasAll && isFound
		s.Decide("WRK-07", isFound, "a REPLY with the information of the job: "+text[:min(40, len(text))], fmt.Sprintf(
			"none of %d REPLYs to %d requests has it within %v", len(got), expected, waitLimit))
	}
	trueCount := 0
	for _, text := range got {
		if strings.Contains(strings.ToLower(text), "true") {
			trueCount++
		}
	}
	if all || hasAll {
		s.Decide("REPLY-05", trueCount >= 2, "a REPLY with a True value for each of two jobs without information",
			fmt.Sprintf("%d such REPLYs", trueCount))
	}
}

// hasReply reports whether a reply has a text, as it is or in JSON, with escapes of whatever kind. One that is
// malformed may have something behind it.
func hasReply(all []string, text string) bool {
	quoted := strings.Trim(values.Quote(text), `"`)
	return slices.ContainsFunc(all, func(reply string) bool {
		var decoded any
		_ = json.NewDecoder(strings.NewReader(reply)).Decode(&decoded) // what is no JSON has the text as it is
		return strings.Contains(reply, text) || strings.Contains(reply, quoted) ||
			strings.Contains(fmt.Sprint(decoded), text)
	})
}

// manyJobs sends one request after the other: a REPLY can only be that to the latest.
func manyJobs(s *session) {
	const jobs, firstTimeout, lastTimeout = 16, 5, 9 // those that time out are more than a worker has executors
	for i := range jobs {
		text, replies := fmt.Sprint("text ", i), s.replyCount()
		r := replyRequest(job("fwp.echo", text))
		switch {
		case firstTimeout <= i && i <= lastTimeout:
			r = &request{headers: emqp.Timeout + ":1", message: job("fwp.sleep", 3)}
		case i%3 == 1:
			r = &request{message: job("fwp.fail", "it has failed")}
		}
		s.push(r)
		if !s.WaitUntil(s.program, waitLimit, func() bool { return s.requestCount() > i }) {
			s.Decide("WRK-08", false, "a READY for the next request", fmt.Sprintf(
				"no READY for request %d of %d within %v; the worker %s", i+1, jobs, waitLimit, s.Ending(s.program)))
			return
		}
		if r.headers == emqp.ReplyRequested && !s.awaitReply(text, replies) {
			return
		}
	}
	s.NoteOccasion("WRK-08")
	s.Pass(s.program, time.Second)
	s.checkQueues()
}

// awaitReply waits for the REPLY to the only request under way, behind n others, and reports whether one came.
func (s *session) awaitReply(text string, n int) bool {
	rest := func() []string {
		return fwpsituations.WithLock(&s.mu, func() []string { return slices.Clone(s.replies[n:]) })
	}
	isFound := s.WaitUntil(s.program, waitLimit, func() bool { return hasReply(rest(), text) })
	if got := rest(); len(got) == 0 {
		s.Decide("WRK-06", false, "a REPLY", fmt.Sprintf("none within %v of the request; the worker %s", waitLimit,
			s.Ending(s.program)))
		return false
	} else if len(got) == 1 {
		s.Decide("WRK-07", isFound, "a REPLY with the information of the job: "+text,
			"a REPLY with "+got[0][:min(40, len(got[0]))])
	}
	return isFound
}

// checkQueues decides whether all queues of the worker's environment are in its INFORMs. One that has none of them does
// not read its environment.
func (s *session) checkQueues() {
	s.mu.Lock()
	defer s.mu.Unlock()
	isNamed := func(name string) bool { return s.queues[name] }
	if all := fwpsituations.Queues(); slices.ContainsFunc(all, isNamed) {
		missing := slices.DeleteFunc(slices.Clone(all), isNamed)
		s.Decide("WRK-02", len(missing) == 0, "INFORMs with all queues of its environment",
			"none has "+strings.Join(missing, ", "))
	}
}

// retries has jobs fail, which count how often they are run.
func retries(s *session) {
	nonePath, noneRuns := s.file("none")
	thricePath, thriceRuns := s.file("thrice")
	lessPath, lessRuns := s.file("less")
	const count, often = 3, 1000
	s.push(&request{headers: fmt.Sprintf("%s:%d", emqp.RetryCount, count), message: job("fwp.flaky", often, thricePath)},
		&request{headers: emqp.RetryCount + ":5", message: job("fwp.flaky", 1, lessPath)},
		&request{message: job("fwp.flaky", often, nonePath)}) // the last one: what others had is not its own
	s.awaitRequests(3)
	s.WaitUntil(s.program, waitLimit, func() bool { return thriceRuns() > count && lessRuns() > 1 && noneRuns() > 0 })
	s.Pass(s.program, 3*time.Second)
	if noneRuns()+thriceRuns()+lessRuns() == 0 {
		s.GiveUp(false, "no job wrote its file: does the program have the job fwp.flaky?")
	}
	s.checkRuns("WRK-15", 1, noneRuns(), "run of a failing job without retry-count")
	s.checkRuns("HEAD-03", count+1, thriceRuns(), fmt.Sprintf("runs of a job that always fails, with retry-count:%d",
		count))
	s.checkRuns("HEAD-03", 2, lessRuns(), "runs of a job that fails once, with retry-count:5")
}

// checkRuns decides a clause by how often a job was run, or has run to its end.
func (s *session) checkRuns(clause string, expected, got int, description string) {
	s.Decide(clause, got == expected, fmt.Sprint(expected, " ", description), fmt.Sprintf("%d", got))
}

// timeouts has jobs run for longer than they may, and for less.
func timeouts(s *session) {
	latePath, lateRuns := s.file("late")
	earlyPath, earlyRuns := s.file("early")
	freePath, freeRuns := s.file("free")
	zeroPath, zeroRuns := s.file("zero")
	s.push(&request{headers: emqp.Timeout + ":5", message: job("fwp.late", 3, earlyPath)},
		&request{headers: emqp.Timeout + ":2", message: job("fwp.late", 3.6, latePath)},
		&request{message: job("fwp.late", 3, freePath)},
		&request{headers: emqp.Timeout + ":0", message: job("fwp.late", 1, zeroPath)})
	s.awaitRequests(4)
	s.WaitUntil(s.program, waitLimit, func() bool { return earlyRuns()+freeRuns()+zeroRuns() == 3 })
	s.Pass(s.program, 2*time.Second)
	if lateRuns()+earlyRuns()+freeRuns()+zeroRuns() == 0 {
		s.GiveUp(false, "no job wrote its file: does the program have the job fwp.late?")
	}
	s.checkRuns("HEAD-04", 0, lateRuns(), "ends of a job of 3.6 s with timeout:2")
	s.checkRuns("WRK-10", 1, earlyRuns(), "end of a job of 3 s with timeout:5")
	s.checkRuns("WRK-10", 1, freeRuns(), "end of a job of 3 s without timeout")
	s.checkRuns("WRK-10", 1, zeroRuns(), "end of a job of 1 s with timeout:0")
}

// combineHeaders sends requests with several headers.
func combineHeaders(s *session) {
	first, firstRuns := s.file("first")
	second, secondRuns := s.file("second")
	third, thirdRuns := s.file("third")
	fourth, fourthRuns := s.file("fourth")
	s.push(
		&request{headers: "reply-requested,retry-count:2,timeout:30", message: job("fwp.flaky", 2, first)},
		&request{headers: "timeout:30,retry-count:1,reply-requested", message: job("fwp.flaky", 1, second)},
		&request{headers: "retry-count:1,timeout:1", message: job("fwp.late", 4, third)},
		replyRequest(job("fwp.ok")))
	const all = 4
	s.WaitUntil(s.program, waitLimit, func() bool { return s.requestCount() >= all })
	count := s.requestCount() // some workers are ready no more when they have headers that they cannot read
	if count == 0 {
		s.awaitRequests(all)
	}
	s.WaitUntil(s.program, waitLimit, func() bool { return s.replyCount() >= 3 })
	replies := s.replyCount()
	s.push(&request{headers: "timeout:1,reply-requested", message: job("fwp.late", 4, fourth)})
	s.Pass(s.program, 8*time.Second)
	s.checkRuns("WRK-09", 3, firstRuns(), "runs with reply-requested,retry-count:2,timeout:30")
	if count > 1 {
		s.checkRuns("WRK-09", 2, secondRuns(), "runs with timeout:30,retry-count:1,reply-requested")
	}
	if count == all {
		s.checkRuns("WRK-09", 0, thirdRuns(), "ends of a job of 4 s with retry-count:1,timeout:1")
		s.checkRuns("WRK-09", 0, fourthRuns(), "ends of a job of 4 s with timeout:1,reply-requested")
		s.checkRuns("WRK-09", 3, min(3, replies), "REPLYs to three requests with reply-requested")
	}
}
