package main

import (
	"errors"
	"log"
	"strings"
	"time"
)

// finish reports the result of a job, unless somebody else did, and takes it out of the hand.
func (w *worker) finish(j *job, failure *jobError) {
	if j.claim() {
		w.report(j, failure)
	}
	w.hand.remove(j)
}

// report sends ACK or FAIL for a job that was claimed.
func (w *worker) report(j *job, failure *jobError) {
	jid := j.jid
	if mutant == 21 {
		jid = w.hand.latest()
	}
	if failure != nil {
		w.deliver(j.link, w.failLine(jid, failure))
		return
	}
	line := "ACK " + object(field{"jid", jid})
	if mutant == 14 && w.fetching() {
		line += "\r\n" + w.fetchLine()
	}
	answer := w.deliver(j.link, line)
	if mutant == 19 && answer.failed() {
		w.deliver(j.link, w.failLine(jid, newJobError("ServerError", answer.text)))
	}
}

// failLine is the FAIL command for a failure.
func (w *worker) failLine(jid string, failure *jobError) string {
	if mutant == 22 {
		w.firstFailed.CompareAndSwap(nil, &jid)
		jid = *w.firstFailed.Load()
	}
	trace := failure.trace
	if variant == 6 {
		trace = []string{}
	}
	line := "FAIL " + object(field{"jid", jid}, field{"errtype", failure.kind},
		field{"message", failure.message}, field{"backtrace", trace})
	if mutant == 13 {
		line = strings.ReplaceAll(line, `\n`, "\n")
	}
	return line
}

// deliver sends a report until the server has answered it. An error reply is an answer too.
func (w *worker) deliver(l *link, line string) reply {
	if w.reporter != nil {
		l = w.reporter
	}
	for try := 0; ; try++ {
		answer, err := l.do(line)
		if err == nil {
			if answer.failed() {
				log.Printf("the server refused a report: %s", answer.text)
			}
			l.remember(line)
			return answer
		}
		if mutant == 25 || errors.Is(err, errEnded) {
			return reply{}
		}
		log.Printf("a report was not delivered: %v", err)
		time.Sleep(backoff(try))
	}
}
