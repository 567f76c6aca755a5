package clientrules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rule is one rule: what a client must or must not do, and when that can be seen. The rules of the specification are
// those of Rules. A rule spells no clause: the breach's name leads to it, in protocols/fwp/model.
type Rule struct {
	// Breach is the name of what the rule finds, a stable slug: "fetch-after-quiet".
	Breach string
	// Goal is the situation without which the rule decides nothing: "a consumer was told to be quiet". A rule whose
	// goal was not reached is inconclusive, never a pass.
	Goal string
	// Needs is what the stream and the Config have to hold.
	Needs Need

	on    occasions
	check func(*look) judgement
}

// Rules returns all rules, in the order of the specification's sections.
func Rules() []Rule {
	return slices.Concat(
		lineRules(), greetingRules(), workerRules(), pushRules(), fetchRules(), jobRules(), beatRules(), stateRules(),
		endRules(),
	)
}

// Need is what a rule needs beside the events of connections; needs are joined with |.
type Need uint8

// The needs.
const (
	NeedsProcesses   Need = 1 << iota // events of processes, and connections that have the numbers of theirs
	NeedsPassword                     // Config.Password
	NeedsConcurrency                  // Config.Concurrency
	NeedsQueues                       // Config.Queues
	NeedsOutcomes                     // Config.Outcome
)

// Outcome is how the execution of a job has to end.
type Outcome struct {
	// Known says that the rest counts; the outcome of other jobs is not judged.
	Known bool
	// Fails says that the job ends in an error, so that a FAIL is right and an ACK is not.
	Fails bool
	// Takes is the shortest time that the execution takes.
	Takes time.Duration
}

// Config is what a Watch knows about the clients beside the stream. The zero value works: the rules that need more are
// left out.
type Config struct {
	// Password is that of the server, with which clients compute their hashes.
	Password string
	// Concurrency is how many jobs a worker was told to run at once; Queues are those it was told to fetch from.
	Concurrency int
	Queues      []string
	// Outcome returns how a job ends; args is the array of the work unit, as encoding/json reads it.
	Outcome func(jobtype string, args []any) Outcome
	// Processes says that the stream has the events of the clients' processes.
	Processes bool
	// Grace is how long a client may take to act on what it has read, and Slack what limits of the specification are
	// widened by, beside the lag of the stream. 0 means 500 ms and 1 s.
	Grace, Slack time.Duration
	// Server says that the server is judged too, by the rules of ServerRules.
	Server bool
	// Only names the breaches whose rules are run; nil means all.
	Only []string
}

// has returns what the Config and its stream have.
func (c Config) has() Need {
	var n Need
	for need, is := range map[Need]bool{
		NeedsProcesses: c.Processes, NeedsPassword: c.Password != "", NeedsConcurrency: c.Concurrency > 0,
		NeedsQueues: len(c.Queues) > 0, NeedsOutcomes: c.Outcome != nil,
	} {
		if is {
			n |= need
		}
	}
	return n
}

// String names the needs: "processes, password".
func (n Need) String() string {
	var names []string
	for i, name := range []string{"processes", "password", "concurrency", "queues", "outcomes"} {
		if n&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// occasions are the events that a rule looks at: those of some kinds, and of lines and replies only those of some
// verbs, if there are any. The verb of a reply is that of the line that it answers.
type occasions struct {
	kinds []Kind
	verbs []string
}

func on(kinds ...Kind) occasions { return occasions{kinds: kinds} }

func (o occasions) of(verbs ...string) occasions { return occasions{o.kinds, verbs} }

// occasion is one kind of events, and of lines and replies the verb, "" for any.
type occasion struct {
	kind Kind
	verb string
}

// each returns the occasions one by one.
func (o occasions) each() (all []occasion) {
	for _, kind := range o.kinds {
		if len(o.verbs) == 0 || kind != Line && kind != Reply {
			all = append(all, occasion{kind: kind})
			continue
		}
		for _, verb := range o.verbs {
			all = append(all, occasion{kind, verb})
		}
	}
	return all
}

// judgement is what a rule says about an event.
type judgement struct {
	reached bool
	name    string // of the breach, if it is not the rule's
	wrong   string
	shown   []Moment
}

// notApplicable returns the judgement about an event that is not in the rule's situation.
func notApplicable() judgement { return judgement{} }

// kept returns the judgement about an event in the rule's situation that keeps the rule.
func kept() judgement { return judgement{reached: true} }

// keptWhere returns kept where the rule's situation is reached, and notApplicable elsewhere.
func keptWhere(reached bool) judgement { return judgement{reached: reached} }

// broken returns the judgement about a breach: what was wrong, in one sentence without its full stop. The moments show
// it, together with the event itself.
func broken(shown []Moment, format string, args ...any) judgement {
	return judgement{reached: true, wrong: fmt.Sprintf(format, args...), shown: shown}
}

// keptIf returns kept if ok, and otherwise a breach that the event itself shows.
func keptIf(ok bool, format string, args ...any) judgement {
	return keptUnless(!ok, nil, format, args...)
}

// keptUnless returns kept unless the event is a breach, which moments show as well.
func keptUnless(breach bool, shown []Moment, format string, args ...any) judgement {
	if !breach {
		return kept()
	}
	return broken(shown, format, args...)
}

// moments returns those that there are.
func moments(all ...*Moment) []Moment {
	var some []Moment
	for _, m := range all {
		if m != nil {
			some = append(some, *m)
		}
	}
	return some
}
