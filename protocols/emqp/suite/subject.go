package suite

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// Alphabet returns eMQP as a subject of exploring.
func Alphabet() *explore.Alphabet {
	return &explore.Alphabet{
		Dialect:      emqpscript.Dialect{},
		Start:        func(t law.Terms) explore.Law { return newLaw(t) },
		Generate:     alphabet,
		Jobs:         "id",
		Accepted:     "PONG string",
		ProbeCommand: `PING "\x00\x00fwp"`,
		Seeds:        seeds,
		Simplify:     simplify,
		Ruling:       ruling,
		Rules:        rules(),
	}
}

// Law returns the law of eMQP.
func Law() law.Definition {
	return law.Definition{Start: func(t law.Terms) law.Law { return newLaw(t) }, Rules: rules()}
}

// ruling returns what the script of a finding needs beside its level: schedulers of others would get what is scheduled.
func ruling(clause, level string) (string, []scenarios.Need) {
	if strings.HasPrefix(clause, prefix+"SCHED") || strings.HasPrefix(clause, prefix+"UNSCH") {
		return level, []scenarios.Need{scenarios.NeedAlone}
	}
	return level, nil
}

// The lines of the seeds. Connection 2 is a worker, 3 a client.
const (
	informLine       = `["", "eMQP/1.0", "INFORM", $id1, "[[10,\"$queue1\"]]", "worker"]`
	readyLine        = `["", "eMQP/1.0", "READY", $id2]`
	secondReadyLine  = `["", "eMQP/1.0", "READY", $id3]`
	requestLine      = `["", "eMQP/1.0", "REQUEST", $id4, $queue1, "", "$id4 text"]`
	replyRequestLine = `["", "eMQP/1.0", "REQUEST", $id5, $queue1, "reply-requested", "$id5 text"]`
	replyLine        = `["", "eMQP/1.0", "REPLY", $id6, "$id6 pong"]`
)

// seeds are the plainest conversations in which a REQUEST or a REPLY may be missing.
func seeds(family string) (all []explore.Trace) {
	if family != ruleMissing {
		return nil
	}
	b := explore.Builder{Dialect: emqpscript.Dialect{}}
	const work, ask = 2, 3
	type line struct {
		conn int
		text string
	}
	for _, lines := range [][]line{
		{{work, informLine}, {work, readyLine}, {ask, requestLine}},
		{{work, informLine}, {work, readyLine}, {ask, replyRequestLine}, {work, replyLine}},
		{{work, informLine}, {work, readyLine}, {ask, requestLine}, {work, secondReadyLine}, {ask, replyRequestLine}},
	} {
		steps := []explore.Step{b.Open(work, scenarios.Consumer, ""), b.Open(ask, scenarios.Producer, "")}
		for _, l := range lines {
			steps = append(steps, b.Line(l.conn, "%s", l.text))
		}
		all = append(all, explore.Trace{Steps: steps})
	}
	return all
}

// simplify tries a REQUEST without headers, and one whose text is its name.
func simplify(line string, try func(plainer string) bool) {
	frames := strings.SplitN(line, ", ", 7)
	const headers, text = 5, 6
	if len(frames) <= text {
		return
	}
	for i, plain := range map[int]string{headers: `""`, text: `"` + frames[3] + ` text"]`} {
		prev := frames[i]
		if prev == plain {
			continue
		}
		frames[i] = plain
		if !try(strings.Join(frames, ", ")) {
			frames[i] = prev
		}
	}
}

// pendingRequests returns the REQUESTs that may still be with the broker.
func (l *emqpLaw) pendingRequests() (all []*message) {
	for _, x := range l.messages {
		if x.Command == emqp.REQUEST && !x.isDone && !l.isLeaving {
			all = append(all, x)
		}
	}
	return all
}

// Leftover names the REQUESTs that may still be with the broker.
func (l *emqpLaw) Leftover() (all []string) {
	for _, x := range l.pendingRequests() {
		all = append(all, fmt.Sprintf("REQUEST %s of %s", x.ID, x.text(0)))
	}
	return all
}

// Cleanup has a worker take what waits: no message removes another one from its queue.
func (l *emqpLaw) Cleanup(explore.Cleaning) iter.Seq[explore.Step] {
	return func(play func(explore.Step) bool) {
		b := explore.Builder{Dialect: emqpscript.Dialect{}}
		rest := l.pendingRequests()
		if len(rest) == 0 || !play(b.Open(explore.Cleaner, scenarios.Consumer, "")) {
			return
		}
		ids := 0
		line := func(command string, fields ...string) bool {
			ids++
			frames := []string{`""`, `"eMQP/1.0"`, fmt.Sprintf("%q", command),
				fmt.Sprintf("%s-cleaner-%d", l.terms.NamePrefix, ids)}
			for _, f := range fields {
				frames = append(frames, fmt.Sprintf("%q", f))
			}
			step := b.Line(explore.Cleaner, "[%s]", strings.Join(frames, ", "))
			return play(step) && l.conns[explore.Cleaner] != nil
		}
		ok := line(emqp.INFORM, emqp.FormatQueues(queuesIn(rest)...), emqp.TypeWorker)
		for range rest {
			ok = ok && (len(l.pendingRequests()) == 0 || line(emqp.READY))
		}
		ok = ok && l.awaitDeliveries(play)
		if ok && line(emqp.KBAI) {
			play(explore.End(explore.Cleaner, scenarios.Closed))
		}
	}
}

// awaitDeliveries waits, while what is left is removed, until nothing is, or the cleaner has gone: then it returns
// false. A broker that has sent some REQUESTs may be slow to send one; one that sends none any more has lost them.
func (l *emqpLaw) awaitDeliveries(play func(explore.Step) bool) bool {
	if !slices.ContainsFunc(l.messages, func(x *message) bool { return x.Command == emqp.REQUEST && x.isDone }) {
		return true
	}
	for n := -1; n != len(l.pendingRequests()) && len(l.pendingRequests()) > 0; {
		n = len(l.pendingRequests())
		if !play(explore.Wait(deliveryTimeout)) || l.conns[explore.Cleaner] == nil {
			return false
		}
	}
	return true
}

// deliveryTimeout is how long the next REQUEST for a worker that is ready may take, while what is left is removed.
const deliveryTimeout = 3 * time.Second

// queuesIn returns the queues of REQUESTs.
func queuesIn(all []*message) (queues []emqp.Queue) {
	for _, x := range all {
		if q := (emqp.Queue{Weight: 1, Name: x.text(0)}); !slices.Contains(queues, q) {
			queues = append(queues, q)
		}
	}
	return queues
}
