package results

import (
	"cmp"
	"slices"

	"github.com/fwpsuite/fwp/internal/text"
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
	// FindingElsewhere: delivered to two agents, neither of which had given it back; which of them had it first, and
	// whether it had ended there, is not known.
	FindingElsewhere FindingKind = "delivered-to-two-agents"
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
	// FindingPaused: delivered from a queue that was paused before the fetch was sent.
	FindingPaused FindingKind = "paused"
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

// FindingsKept is how many jids a LoadFinding names at most.
const FindingsKept = 1000

// LoadFinding is one kind of wrong behaviour of the target, with the jobs in question.
type LoadFinding struct {
	Kind FindingKind `json:"kind"`
	// Breach names what was broken: the kind itself, or a name with more detail, "foreign-reply:push" for example.
	Breach string `json:"breach,omitempty"`
	// Clause is the id of the clause that was broken; empty if the specification has none.
	Clause string `json:"clause,omitempty"`
	// Level is the level of the clause; empty if there is no clause or it is not known.
	Level reports.Level `json:"level,omitempty"`
	// What is what happened, in a few words without a full stop.
	What string `json:"what"`
	// Count is how often it happened.
	Count int64 `json:"count"`
	// JIDs holds the jobs in question, the first FindingsKept of them, in the order in which they were found; for grammar
	// and replies it may hold what was received, shortened.
	JIDs []string `json:"jids,omitempty"`
	// More is how many there are beyond JIDs.
	More int64 `json:"more,omitempty"`
	// Notes is more about single cases: "pushed to 0, delivered from 1" for example.
	Notes []string `json:"notes,omitempty"`
}

// fails reports whether the finding is about more than a recommendation.
func (f *LoadFinding) fails() bool { return f.Level.Breach() == reports.Fail }

// quotes reports whether JIDs and Notes may hold what was received instead of jids.
func (f *LoadFinding) quotes() bool {
	return f.Kind == FindingGrammar || f.Kind == FindingReply || f.Kind == FindingLaw
}

// NewLoadFinding returns the finding of that kind, described, with the first FindingsKept jids. Count is at least the
// number of jids.
func NewLoadFinding(kind FindingKind, count int64, jids []string) LoadFinding {
	count = max(count, int64(len(jids)))
	kept := slices.Clone(jids[:min(len(jids), FindingsKept)])
	return LoadFinding{
		Kind: kind, Breach: string(kind), What: cmp.Or(findingKinds[kind].meaning, string(kind)), Count: count, JIDs: kept,
		More: count - int64(len(kept)),
	}
}

// findingKinds holds, for each kind, the thing that is counted, what is wrong with it, and what that means.
var findingKinds = map[FindingKind]struct{ thing, wrong, meaning string }{
	FindingLost: {"job", " lost", "accepted with OK and never delivered"},
	FindingLostByRestart: {"job", " lost by a restart",
		"accepted with OK before a restart in good order, and never delivered"},
	FindingDuplicated: {"job", " delivered twice", "delivered again while a worker held it"},
	FindingReturned:   {"job", " delivered again after their end", "delivered again after its end"},
	FindingElsewhere: {"job", " delivered to two agents",
		"delivered to two agents, neither of which had given it back"},
	FindingRefused:    {"job", " delivered though refused", "refused with an error and delivered all the same"},
	FindingQueue:      {"job", " from a wrong queue", "delivered to a fetch that had not asked for its queue"},
	FindingAltered:    {"job", " altered", "delivered with contents other than those it was pushed with"},
	FindingForeign:    {"foreign job", "", "in a queue of this run, but not pushed by it"},
	FindingEarly:      {"job", " delivered early", "scheduled, and delivered before its time"},
	FindingPaused:     {"job", " from a paused queue", "delivered to a fetch that was sent while its queue was paused"},
	FindingNotRetried: {"job", " not tried again", "failed, was to be tried again, and was not back when the drain ended"},
	FindingNotReturned: {"job", " not delivered again",
		"an ack or fail of it was answered with an error, and it was not back after its reservation"},
	FindingReply:      {"wrong reply", "", "a reply that belongs to another command, or to none"},
	FindingUnanswered: {"command", " without a reply", "a command that got no reply, while others did"},
	FindingOverdue:    {"fetch", " answered too late", "there was no job, and the reply came too late"},
	FindingClosed:     {"worker's connection", " closed", "closed by the server, which served others on"},
	FindingGrammar:    {"malformed reply", "", "bytes that are not well-formed"},
	FindingLaw:        {"breach", " of the law", "found by the law on a sample of the connections"},
	FindingHistory:    {"contradiction", " in the history", string(FindingHistory)},
}

// String returns how often it happened: "3 jobs lost", "2,221 wrong replies".
func (f *LoadFinding) String() string {
	kind, known := findingKinds[f.Kind]
	if !known {
		return text.Grouped(f.Count) + " " + string(f.Kind)
	}
	return text.Count(f.Count, kind.thing) + kind.wrong
}
