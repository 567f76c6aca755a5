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

// soon is how long something may take that needs no waiting.
const soon = 20 * time.Second

// file returns a path for a job, and what counts the bytes that it has there.
func (s *session) file(name string) (path string, bytes func() int) {
	const most = 1 << 20
	path = filepath.Join(s.folder, name)
	return path, func() int {
		b, _ := input.Read(path, most) // without a file there are none
		return len(b)
	}
}

// job returns a message with the words of a job; texts are JSON strings.
func job(name string, words ...any) string {
	all := []string{values.Quote(name)}
	for _, w := range words {
		if text, is := w.(string); is {
			all = append(all, values.Quote(text))
		} else {
			all = append(all, fmt.Sprint(w))
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

// written returns the message of a job as the worker reads it.
func (s *session) written(message string) string {
	name, args, _ := strings.Cut(message[1:len(message)-1], ",")
	return s.Job(message, strings.Trim(name, `"`), "["+args+"]")
}

// mustTake waits until the program was sent all requests, and ends the play otherwise.
func (s *session) mustTake(n int) {
	if !s.Until(s.program, soon, func() bool { return s.taken() >= n }) {
		s.GiveUp(true, "the worker was ready for %d of %d requests within %v; it %s", s.taken(), n, soon, s.Ending(s.program))
	}
}

// texts are what a job can reply with.
func texts() []string {
	return []string{"a text", "héllo wörld ✓", `"quoted" \ text`, strings.Repeat("0123456789", 2_000)}
}

// repliesAsked asks for replies to some requests.
func repliesAsked(s *session) {
	var requests []*request
	for _, text := range texts() {
		requests = append(requests, asked(job("fwp.echo", text)), &request{message: job("fwp.echo", "unasked "+text)})
	}
	slow := asked(job("fwp.sleep", 1))
	slow.takes = time.Second
	requests = append(requests, asked(job("fwp.ok")), &request{message: job("fwp.ok")}, slow)
	s.push(requests...)
	s.mustTake(len(requests))
	expected := len(texts()) + 2
	all := s.Until(s.program, soon, func() bool { return s.replies() >= expected })
	s.Pass(s.program, 2*time.Second)
	got := fwpsituations.Locked(&s.mu, func() []string { return slices.Clone(s.got) })
	informed := true
	for _, text := range texts() {
		has := hasReply(got, text)
		informed = informed && has
		s.Holds("WRK-07", has, "a REPLY with the information of the job: "+text[:min(40, len(text))], fmt.Sprintf(
			"none of %d REPLYs to %d requests has it within %v", len(got), expected, soon))
	}
	trues := 0
	for _, text := range got {
		if strings.Contains(strings.ToLower(text), "true") {
			trues++
		}
	}
	if all || informed {
		s.Holds("REPLY-05", trues >= 2, "a REPLY with a True value for each of two jobs without information",
			fmt.Sprintf("%d such REPLYs", trues))
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

// many sends one request after the other: a REPLY can only be that to the latest.
func many(s *session) {
	const jobs, timed, last = 16, 5, 9 // those that time out are more than a worker has executors
	for i := range jobs {
		text, replies := fmt.Sprint("text ", i), s.replies()
		r := asked(job("fwp.echo", text))
		switch {
		case timed <= i && i <= last:
			r = &request{headers: emqp.Timeout + ":1", message: job("fwp.sleep", 3)}
		case i%3 == 1:
			r = &request{message: job("fwp.fail", "it has failed")}
		}
		s.push(r)
		if !s.Until(s.program, soon, func() bool { return s.taken() > i }) {
			s.Holds("WRK-08", false, "a READY for the next request", fmt.Sprintf(
				"no READY for request %d of %d within %v; the worker %s", i+1, jobs, soon, s.Ending(s.program)))
			return
		}
		if r.headers == emqp.ReplyRequested && !s.repliesTo(text, replies) {
			return
		}
	}
	s.Kept("WRK-08")
	s.Pass(s.program, time.Second)
	s.named()
}

// repliesTo waits for the REPLY to the only request under way, behind n others, and reports whether one came.
func (s *session) repliesTo(text string, n int) bool {
	behind := func() []string {
		return fwpsituations.Locked(&s.mu, func() []string { return slices.Clone(s.got[n:]) })
	}
	has := s.Until(s.program, soon, func() bool { return hasReply(behind(), text) })
	if got := behind(); len(got) == 0 {
		s.Holds("WRK-06", false, "a REPLY", fmt.Sprintf("none within %v of the request; the worker %s", soon,
			s.Ending(s.program)))
		return false
	} else if len(got) == 1 {
		s.Holds("WRK-07", has, "a REPLY with the information of the job: "+text,
			"a REPLY with "+got[0][:min(40, len(got[0]))])
	}
	return has
}

// named decides whether all queues of the worker's environment are in its INFORMs. One that has none of them does not
// read its environment.
func (s *session) named() {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := func(name string) bool { return s.queues[name] }
	if all := fwpsituations.Queues(); slices.ContainsFunc(all, named) {
		missing := slices.DeleteFunc(slices.Clone(all), named)
		s.Holds("WRK-02", len(missing) == 0, "INFORMs with all queues of its environment",
			"none has "+strings.Join(missing, ", "))
	}
}

// retries has jobs fail, which count how often they are run.
func retries(s *session) {
	none, ofNone := s.file("none")
	thrice, ofThrice := s.file("thrice")
	less, ofLess := s.file("less")
	const count, often = 3, 1000
	s.push(&request{headers: fmt.Sprintf("%s:%d", emqp.RetryCount, count), message: job("fwp.flaky", often, thrice)},
		&request{headers: emqp.RetryCount + ":5", message: job("fwp.flaky", 1, less)},
		&request{message: job("fwp.flaky", often, none)}) // the last one: what others had is not its own
	s.mustTake(3)
	s.Until(s.program, soon, func() bool { return ofThrice() > count && ofLess() > 1 && ofNone() > 0 })
	s.Pass(s.program, 3*time.Second)
	if ofNone()+ofThrice()+ofLess() == 0 {
		s.GiveUp(false, "no job wrote its file: does the program have the job fwp.flaky?")
	}
	s.runs("WRK-15", 1, ofNone(), "run of a failing job without retry-count")
	s.runs("HEAD-03", count+1, ofThrice(), fmt.Sprintf("runs of a job that always fails, with retry-count:%d", count))
	s.runs("HEAD-03", 2, ofLess(), "runs of a job that fails once, with retry-count:5")
}

// runs decides a clause by how often a job was run, or has run to its end.
func (s *session) runs(clause string, expected, got int, what string) {
	s.Holds(clause, got == expected, fmt.Sprint(expected, " ", what), fmt.Sprintf("%d", got))
}

// timeouts has jobs run for longer than they may, and for less.
func timeouts(s *session) {
	late, ofLate := s.file("late")
	early, ofEarly := s.file("early")
	free, ofFree := s.file("free")
	zero, ofZero := s.file("zero")
	s.push(&request{headers: emqp.Timeout + ":5", message: job("fwp.late", 3, early)},
		&request{headers: emqp.Timeout + ":2", message: job("fwp.late", 3.6, late)},
		&request{message: job("fwp.late", 3, free)},
		&request{headers: emqp.Timeout + ":0", message: job("fwp.late", 1, zero)})
	s.mustTake(4)
	s.Until(s.program, soon, func() bool { return ofEarly()+ofFree()+ofZero() == 3 })
	s.Pass(s.program, 2*time.Second)
	if ofLate()+ofEarly()+ofFree()+ofZero() == 0 {
		s.GiveUp(false, "no job wrote its file: does the program have the job fwp.late?")
	}
	s.runs("HEAD-04", 0, ofLate(), "ends of a job of 3.6 s with timeout:2")
	s.runs("WRK-10", 1, ofEarly(), "end of a job of 3 s with timeout:5")
	s.runs("WRK-10", 1, ofFree(), "end of a job of 3 s without timeout")
	s.runs("WRK-10", 1, ofZero(), "end of a job of 1 s with timeout:0")
}

// headersTogether sends requests with several headers.
func headersTogether(s *session) {
	first, ofFirst := s.file("first")
	second, ofSecond := s.file("second")
	third, ofThird := s.file("third")
	fourth, ofFourth := s.file("fourth")
	s.push(
		&request{headers: "reply-requested,retry-count:2,timeout:30", message: job("fwp.flaky", 2, first)},
		&request{headers: "timeout:30,retry-count:1,reply-requested", message: job("fwp.flaky", 1, second)},
		&request{headers: "retry-count:1,timeout:1", message: job("fwp.late", 4, third)},
		asked(job("fwp.ok")))
	const all = 4
	s.Until(s.program, soon, func() bool { return s.taken() >= all })
	taken := s.taken() // some workers are ready no more when they have headers that they cannot read
	if taken == 0 {
		s.mustTake(all)
	}
	s.Until(s.program, soon, func() bool { return s.replies() >= 3 })
	replies := s.replies()
	s.push(&request{headers: "timeout:1,reply-requested", message: job("fwp.late", 4, fourth)})
	s.Pass(s.program, 8*time.Second)
	s.runs("WRK-09", 3, ofFirst(), "runs with reply-requested,retry-count:2,timeout:30")
	if taken > 1 {
		s.runs("WRK-09", 2, ofSecond(), "runs with timeout:30,retry-count:1,reply-requested")
	}
	if taken == all {
		s.runs("WRK-09", 0, ofThird(), "ends of a job of 4 s with retry-count:1,timeout:1")
		s.runs("WRK-09", 0, ofFourth(), "ends of a job of 4 s with timeout:1,reply-requested")
		s.runs("WRK-09", 3, min(3, replies), "REPLYs to three requests with reply-requested")
	}
}
