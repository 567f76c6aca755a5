package results

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// FindingKind is a kind of LoadFinding. Its value is the word that is printed.
type FindingKind string

// The kinds of findings of a load.
const (
	// FindingLost: accepted and never delivered.
	FindingLost FindingKind = "lost"
	// FindingLostByRestart: accepted before a restart in good order, and never delivered.
	FindingLostByRestart FindingKind = "lost-by-restart"
	// FindingDuplicated: delivered while another worker held it.
	FindingDuplicated FindingKind = "duplicated"
	// FindingReturned: delivered again after its ack was accepted, or though it was not to be tried again.
	FindingReturned FindingKind = "returned"
	// FindingRefused: its push was answered with an error, and it was delivered all the same.
	FindingRefused FindingKind = "refused-but-delivered"
	// FindingQueue: delivered to a fetch that had not asked for its queue.
	FindingQueue FindingKind = "wrong-queue"
	// FindingAltered: jid, args, queue or job type were not those that were pushed.
	FindingAltered FindingKind = "altered"
	// FindingForeign: a job that this run did not push was delivered from one of the queues that only this run uses.
	FindingForeign FindingKind = "foreign"
	// FindingEarly: a scheduled job was delivered before its time.
	FindingEarly FindingKind = "early"
	// FindingNotRetried: a job that failed and was to be tried again did not come back in the time of the drain.
	FindingNotRetried FindingKind = "not-retried"
	// FindingNotReturned: its ack was refused, and it was not back when its reservation had ended.
	FindingNotReturned FindingKind = "not-returned"
	// FindingReply: a reply that belongs to another command or connection, or to none.
	FindingReply FindingKind = "reply"
	// FindingUnanswered: a command without a reply, while others were answered.
	FindingUnanswered FindingKind = "unanswered"
	// FindingOverdue: a fetch that found nothing, and was answered much later than after the longest wait.
	FindingOverdue FindingKind = "overdue"
	// FindingClosed: a worker's connection that the server ended without a cause, while it served others.
	FindingClosed FindingKind = "closed"
	// FindingHistory: what only the order of all calls and replies proves.
	FindingHistory FindingKind = "history"
	// FindingGrammar: bytes that are not of the protocol.
	FindingGrammar FindingKind = "grammar"
	// FindingLaw: what the law of the protocol found on some of the connections; Breach is "law/" and the rule.
	FindingLaw FindingKind = "law"
)

// MaxJIDs is how many jids a LoadFinding names at most.
const MaxJIDs = 1000

// LoadFinding is one kind of wrong behaviour of the target, with the jobs in question.
type LoadFinding struct {
	Kind FindingKind `json:"kind"`
	// Breach names what was broken: the kind itself, or a name with more detail, "foreign-reply:push" for example.
	Breach string `json:"breach,omitempty"`
	// Clause is the id of the clause that was broken; empty if the specification has none.
	Clause string `json:"clause,omitempty"`
	// Level is the level of the clause; empty if there is no clause or it is not known.
	Level reports.Level `json:"level,omitempty"`
	// Description is what happened, in a few words without a full stop.
	Description string `json:"what"`
	// Count is how often it happened.
	Count int64 `json:"count"`
	// JIDs holds the jobs in question, the first MaxJIDs of them, in the order in which they were found; for grammar
	// and replies it may hold what was received, shortened.
	JIDs []string `json:"jids,omitempty"`
	// Pushed holds when the jobs of JIDs were pushed, from the start of the run; -1 if that is not known, and nil if it is
	// not of any. Long ago it is when the first of 256 jobs was pushed that are next to it.
	Pushed []time.Duration `json:"pushed_ns,omitempty"`
	// MoreJIDs is how many there are beyond JIDs.
	MoreJIDs int64 `json:"more,omitempty"`
	// Notes is more about single cases: "pushed to 0, delivered from 1" for example.
	Notes []string `json:"notes,omitempty"`
}

// fails reports whether the finding is about more than a recommendation.
func (f *LoadFinding) fails() bool { return f.Level.BreachVerdict() == reports.Fail }

// quotes reports whether JIDs and Notes may hold what was received instead of jids.
func (f *LoadFinding) quotes() bool {
	return f.Kind == FindingGrammar || f.Kind == FindingReply || f.Kind == FindingLaw
}

// NewLoadFinding returns the finding of that kind, described, with the first MaxJIDs jids. Count is at least the
// number of jids.
func NewLoadFinding(kind FindingKind, count int64, jids []string) LoadFinding {
	count = max(count, int64(len(jids)))
	first := slices.Clone(jids[:min(len(jids), MaxJIDs)])
	return LoadFinding{
		Kind: kind, Breach: string(kind), Description: cmp.Or(findingKinds[kind].meaning, string(kind)), Count: count,
		JIDs:     first,
		MoreJIDs: count - int64(len(first)),
	}
}

// findingKinds holds, for each kind, the thing that is counted, what is wrong with it, and what that means.
var findingKinds = map[FindingKind]struct{ thing, wrong, meaning string }{
	FindingLost: {"job", " lost", "accepted with OK and never delivered"},
	FindingLostByRestart: {"job", " lost by a restart",
		"accepted with OK before an orderly restart, and never delivered"},
	FindingDuplicated: {"job", " delivered twice", "delivered again while another worker had it reserved"},
	FindingReturned: {"job", " delivered again after ACK or final FAIL",
		"delivered again after its ACK, or after a FAIL without retries left"},
	FindingRefused: {"job", " delivered though refused", "refused with an error, but delivered"},
	FindingQueue:   {"job", " from a wrong queue", "delivered to a FETCH that did not name its queue"},
	FindingAltered: {"job", " altered", "delivered with changed contents"},
	FindingForeign: {"foreign job", "", "in a queue of this run, but not pushed by it"},
	FindingEarly:   {"job", " delivered early", "scheduled, and delivered before its time"},
	FindingNotRetried: {"job", " not tried again", "failed with retries left, but not delivered again before the end " +
		"of the drain"},
	FindingNotReturned: {"job", " not delivered again",
		"its ACK or FAIL got an error, and it was not delivered again after its reservation"},
	FindingReply:      {"wrong reply", "", "a reply for another command, or for no command"},
	FindingUnanswered: {"command", " without a reply", "a command without a reply, while others got theirs"},
	FindingOverdue:    {"fetch", " answered too late", "there was no job, and the reply was too late"},
	FindingClosed:     {"worker connection", " closed", "closed by the server, which still served others"},
	FindingGrammar:    {"malformed reply", "", "bytes that are not well-formed"},
	FindingLaw: {"breach", " of the model in a sample", "found by the model of the protocol in a sample of " +
		"the connections"},
	FindingHistory: {"contradiction", " in the history", string(FindingHistory)},
}

// String returns how often it happened: "3 jobs lost", "2,221 wrong replies".
func (f *LoadFinding) String() string {
	kind, ok := findingKinds[f.Kind]
	if !ok {
		return text.GroupDigits(f.Count) + " " + string(f.Kind)
	}
	return text.Count(f.Count, kind.thing) + kind.wrong
}

// pushTimes returns between which times the jobs were pushed, empty if none is known.
func (f *LoadFinding) pushTimes() string {
	times := slices.DeleteFunc(slices.Clone(f.Pushed), func(at time.Duration) bool { return at < 0 })
	if len(times) == 0 {
		return ""
	}
	from, until := moment(slices.Min(times)), moment(slices.Max(times))
	if from == until {
		return ", pushed at " + from
	}
	return ", pushed from " + from + " to " + until
}

// jidsWithTimes returns the jids, each with when its job was pushed.
func (f *LoadFinding) jidsWithTimes() []string {
	jids := slices.Clone(f.JIDs)
	for i := range min(len(jids), len(f.Pushed)) {
		if f.Pushed[i] >= 0 {
			jids[i] += ", pushed at " + moment(f.Pushed[i])
		}
	}
	return jids
}

// moreWords returns how many jobs are not shown, and where they are.
func moreWords(remaining, unlisted int64) string {
	words := "and " + text.GroupDigits(remaining) + " more"
	switch {
	case unlisted == remaining:
		return words
	case unlisted > 0:
		return words + "; --verbose and JSON list the first " + text.GroupDigits(MaxJIDs)
	}
	return words + "; --verbose and JSON list all"
}
