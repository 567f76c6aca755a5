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

	occasions occasions
	check     func(*observation) judgement
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
	// IsKnown says that the rest counts; the outcome of other jobs is not judged.
	IsKnown bool
	// IsFailure says that the job ends in an error, so that a FAIL is right and an ACK is not.
	IsFailure bool
	// Duration is the shortest time that the execution takes.
	Duration time.Duration
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
	// HasProcesses says that the stream has the events of the clients' processes.
	HasProcesses bool
	// Grace is how long a client may take to act on what it has read, and Slack what limits of the specification are
	// widened by, beside the lag of the stream. 0 means 500 ms and 1 s.
	Grace, Slack time.Duration
	// JudgesServer says that the server is judged too, by the rules of ServerRules.
	JudgesServer bool
	// Breaches names the breaches whose rules are run; nil means all.
	Breaches []string
}

// supply returns what the Config and its stream have.
func (c Config) supply() Need {
	var n Need
	for need, isMet := range map[Need]bool{
		NeedsProcesses: c.HasProcesses, NeedsPassword: c.Password != "", NeedsConcurrency: c.Concurrency > 0,
		NeedsQueues: len(c.Queues) > 0, NeedsOutcomes: c.Outcome != nil,
	} {
		if isMet {
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

func occasionsOf(kinds ...Kind) occasions { return occasions{kinds: kinds} }

func (o occasions) withVerbs(verbs ...string) occasions { return occasions{o.kinds, verbs} }

// occasion is one kind of events, and of lines and replies the verb, "" for any.
type occasion struct {
	kind Kind
	verb string
}

// list returns the occasions one by one.
func (o occasions) list() (all []occasion) {
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
	isReached bool
	name      string // of the breach, if it is not the rule's
	text      string
	evidence  []Moment
}

// skip returns the judgement about an event that is not in the rule's situation.
func skip() judgement { return judgement{} }

// pass returns the judgement about an event in the rule's situation that keeps the rule.
func pass() judgement { return judgement{isReached: true} }

// passWhere returns pass where the rule's situation is reached, and skip elsewhere.
func passWhere(isReached bool) judgement { return judgement{isReached: isReached} }

// fail returns the judgement about a breach: what was wrong, in one sentence without its full stop. The moments show
// it, together with the event itself.
func fail(evidence []Moment, format string, args ...any) judgement {
	return judgement{isReached: true, text: fmt.Sprintf(format, args...), evidence: evidence}
}

// passIf returns pass if ok, and otherwise a breach that the event itself shows.
func passIf(ok bool, format string, args ...any) judgement {
	return failIf(!ok, nil, format, args...)
}

// failIf returns pass unless the event is a breach, which moments show as well.
func failIf(isBreach bool, evidence []Moment, format string, args ...any) judgement {
	if !isBreach {
		return pass()
	}
	return fail(evidence, format, args...)
}

// moments returns those that there are.
func moments(all ...*Moment) []Moment {
	var list []Moment
	for _, m := range all {
		if m != nil {
			list = append(list, *m)
		}
	}
	return list
}
