package reports

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Schema is the Schema of every Report.
const Schema = "fwpcheck/3"

// Report is the result of one run. The exit code and every output are computed from it and from nothing else.
//
// A Report is plain data without locks: fill it from one goroutine, or guard it.
//
// Nothing here shortens or removes passwords for its caller: URLs and commands arrive without them, and payloads arrive
// escaped and, where they are long, already shortened. The renderers escape control characters all the same, so that a
// hostile server cannot reach the reader's terminal.
type Report struct {
	Head
	// Counts, RunFindings and Symptoms follow from Checks and Clauses. WriteJSON sets them, whatever is here.
	Counts      Counts       `json:"counts"`
	RunFindings []RunFinding `json:"findings"`
	Symptoms    []Symptom    `json:"symptoms"`
	// Expectations is what the run came to by a file of known findings; nil if there was none. KnownFindings holds
	// what is known by it, and is not among the findings; WriteJSON sets it, whatever is here.
	Expectations  *Expectations  `json:"expectations,omitempty"`
	KnownFindings []KnownFinding `json:"known,omitempty"`
	// Target is the server under test.
	Target Target `json:"target"`
	// ReplayTime is how much of Took it was that findings were played again, after the turn of each check.
	ReplayTime time.Duration `json:"again_ns,omitempty"`
	// Repeat is how often each check was run, if that was more than once.
	Repeat int `json:"repeat,omitempty"`
	// Rerun is the command that plays a check of the run again, with CHECK in the place of its name.
	Rerun string `json:"rerun,omitempty"`
	// MissReason is why what the run was for did not show: a bug of the embedded server; empty if it did.
	MissReason string `json:"unseen,omitempty" from:"target"`
	// Observations is what was seen of a client beside the clauses: how long its processes took to their ends, for
	// example.
	Observations []string `json:"seen,omitempty" from:"target"`
	// Law is what the law of the protocol has judged; nil if it has judged nothing.
	Law *Law `json:"law,omitempty"`
	// Upgrade is what became of jobs over an upgrade; nil if there was none.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Scripts holds the texts of the suite's scripts that findings are about, by the name that Evidence.File has for them.
	Scripts map[string]string `json:"scripts,omitempty"`
	// Checks holds every check that was selected, and may hold others as NotSelected, in the order of the catalogue.
	Checks []Check `json:"checks"`
	// Clauses holds every clause of the catalogue, in its order, each with the worst verdict of its checks.
	Clauses []Clause `json:"clauses"`
}

// Clause is a clause of the catalogue with the verdict of the whole run: the Worst of those of its checks.
type Clause struct {
	ID        string  `json:"id"`
	Level     Level   `json:"level"`
	Section   string  `json:"section"`
	Statement string  `json:"statement"`
	Verdict   Verdict `json:"verdict"`
	// Harm is what users of a client meet that breaks the clause, one of Harms; empty: nothing of these.
	Harm string `json:"harm,omitempty"`
	// Fix is the section of a page of the repository that says how to fix it; empty if none does.
	Fix string `json:"fix,omitempty"`
	// Cause is the cause of a verdict other than Pass, in one sentence without a full stop.
	Cause string `json:"why,omitempty" from:"target"`
	// Reason is that of the ClauseVerdict.
	Reason ReasonCode `json:"reason,omitempty"`
	// Provide is how the user can provide what was missing (Skipped, sometimes Inconclusive); empty otherwise.
	Provide string `json:"provide,omitempty"`
	// Checks names the checks that evaluate this clause, selected or not; empty if none does.
	Checks []string `json:"checks,omitempty"`
}

// LawPrefix is how the ids of checks begin that are rules of a protocol's law, which judges every conversation.
const LawPrefix = "law/"

// Check is the result of one check: a script, or a property written in Go.
type Check struct {
	// ID is the stable name, "push/rejected-is-not-enqueued" for example.
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// File is the script, relative to where scripts are kept; empty for a property.
	File    string  `json:"file,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Cause, Reason and Provide are those of ClauseVerdict, for a check that names no clause.
	Cause   string     `json:"why,omitempty" from:"target"`
	Reason  ReasonCode `json:"reason,omitempty"`
	Provide string     `json:"provide,omitempty"`
	// Took is how long the last attempt was.
	Took time.Duration `json:"took_ns"`
	// Attempts is how often the check was run: more than 1 if it was tried again because it was inconclusive.
	Attempts int `json:"attempts,omitempty"`
	// Runs counts the verdicts of a check that was run several times because the user asked for it, the worst first; the
	// Verdict is the worst, and the evidence is that of the first run that had it.
	Runs []Count `json:"runs,omitempty"`
	// Replays counts the verdicts of the check when it was played again alone, after the run, because it had a finding
	// that is not known, or one that is known to be flaky. They do not change the Verdict.
	Replays []Count `json:"alone,omitempty"`
	// KnownLine is that of ClauseVerdict, for a check that names no clause.
	KnownLine int `json:"known_line,omitempty"`
	// Clauses holds the verdict on each clause that the check evaluates.
	Clauses []ClauseVerdict `json:"clauses,omitempty"`
	// Findings are the evidence against the clauses; in JSON they are the symptoms of the Report.
	Findings []Finding `json:"-"`
	// LeftoverJobs names the jobs that the check put on the target and could not remove.
	LeftoverJobs []string `json:"left,omitempty" from:"target"`
	// Conversation is that of all connections of the check, in order of time. It is kept for findings and inconclusive
	// checks.
	Conversation []Line `json:"conversation,omitempty"`
}

// ClauseVerdict is the verdict of one check on one clause.
type ClauseVerdict struct {
	ID      string  `json:"id"`
	Level   Level   `json:"level"`
	Verdict Verdict `json:"verdict"`
	// Cause is the cause of a verdict other than Pass, or the reading that was seen (Observed); one sentence, no full
	// stop.
	Cause string `json:"why,omitempty" from:"target"`
	// Reason is the code of the cause of a verdict without a result: "lag" for example. docs/verdicts.md lists the codes.
	Reason ReasonCode `json:"reason,omitempty"`
	// Provide is how the user can provide what was missing: "give --restart 'systemctl restart faktory'".
	Provide string `json:"provide,omitempty"`
	// IsHalted is set if the verdict is Inconclusive because an earlier line of the check did not match, another clause
	// was broken in it, or its situation did not come about: the subject does that, and no other play will change it.
	IsHalted bool `json:"halted,omitempty"`
	// HasOtherBreach is set if the verdict is Inconclusive because another clause was broken meanwhile.
	HasOtherBreach bool `json:"beside,omitempty"`
	// KnownLine is the line, counted from 1, of the file of known findings that lists an inconclusive verdict; 0: none.
	KnownLine int `json:"known_line,omitempty"`
	// Runs is that of Check, for this clause.
	Runs []Count `json:"runs,omitempty"`
}

// The senders of a Line.
const (
	FromClient = "client"
	FromServer = "server"
	FromSuite  = "suite"
)

// Line is one line of a conversation.
type Line struct {
	// At is the time since the check began.
	At time.Duration `json:"at_ns"`
	// Conn is the name of the connection; empty for a remark that belongs to none.
	Conn string `json:"conn,omitempty"`
	// From is FromClient, FromServer or FromSuite; the last is a remark: a connection opened, a restart asked for.
	From string `json:"from"`
	// Text is what was sent, escaped, without the final CRLF, and shortened if it was long.
	Text string `json:"text" from:"target"`
	// IsInternal is set if the suite did it for itself: it asked whether the server still serves, or removed its jobs.
	IsInternal bool `json:"own,omitempty"`
	// IsEnd is set if the line is about the end of the connection.
	IsEnd bool `json:"ended,omitempty"`
}

// String returns the line as it is shown while a check is played.
func (l Line) String() string {
	return fmt.Sprintf("%9.3f s  %s %s", l.At.Seconds(), strings.TrimSpace(l.Conn+"  "+l.Speaker()), l.Text)
}

// Speaker returns who wrote the line, in two characters: "C:" for the client, "S:" for the server, "--" for the suite.
func (l Line) Speaker() string {
	return cmp.Or(map[string]string{FromClient: "C:", FromServer: "S:"}[l.From], "--")
}
