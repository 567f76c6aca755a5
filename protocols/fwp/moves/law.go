package moves

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// fwpLaw is the oracle as a law of exploring.
type fwpLaw struct {
	law.Terms
	world      *fwplaw.World
	conns      map[int]*conn
	fuzzedJobs []fuzzedJob // jobs that fuzzed bytes may have pushed

	reportedLapses map[string]bool // departures in the kind of a reply that were told
	lastJobs       int             // jobs that a clean-up has pushed to be the last
}

// conn is what the law keeps of a connection beside what the oracle knows.
type conn struct {
	verb         string // of the command whose answer is awaited
	awaitsReply  bool
	isIntroduced bool // its HELLO was accepted, and nothing was sent since
	hasManyLines bool // its last bytes were not a single line: the first answer is judged, but may have another reason
	replyTime    time.Time
	lastMessage  session.Message // that was received
	lineStart    []byte          // of a line that is not complete
}

func newLaw(t law.Terms) *fwpLaw {
	l := &fwpLaw{Terms: t, world: fwplaw.NewWorld(), conns: map[int]*conn{}, reportedLapses: map[string]bool{}}
	l.world.Protected, l.world.Password = t.Password != "", t.Password
	l.world.Patience, l.world.Slack, l.world.Shared = t.Patience, t.Slack, t.IsShared
	l.world.Server = t.History
	return l
}

// Open records a new connection. The one that removes the jobs of fuzzed bytes is not
// judged, since the oracle does not know these jobs.
func (l *fwpLaw) Open(number int, at time.Time) {
	l.world.Open(number)
	l.world.Conns[number].OpenedAt = at
	l.conns[number] = &conn{awaitsReply: true}
	if number == fuzzCleaner {
		l.world.Conns[number].Unjudged = fwplaw.NotLines
	}
}

// Introduce returns the HELLO of a connection.
func (l *fwpLaw) Introduce(number int, c *scenarios.Connect) string {
	if c.Role == scenarios.Raw {
		return ""
	}
	return hello(c, l.world.Conns[number].Hi.Protected)
}

// Split implements [law.Splitter]: a command is a line. What stands behind an LF alone is part of the same one.
func (l *fwpLaw) Split(number int, all []byte, _ time.Time) (commands [][]byte) {
	c := l.conns[number]
	for all = slices.Concat(c.lineStart, all); len(all) > 0; {
		end := bytes.IndexByte(all, '\n') + 1
		if c.lineStart = nil; end == 0 {
			c.lineStart = all
			break
		}
		if !bytes.HasSuffix(all[:end], []byte("\r\n")) {
			end = len(all)
		}
		commands, all = append(commands, all[:end:end]), all[end:]
	}
	return commands
}

// Sent records bytes. The number of answers to what is not a single line is not judged.
func (l *fwpLaw) Sent(number int, all []byte, unbounded bool, at time.Time) law.Sent {
	c := l.conns[number]
	line, isEnded := bytes.CutSuffix(all, []byte("\r\n"))
	switch {
	case unbounded: // only too many answers are judged
		l.fuzzedJobs = append(l.fuzzedJobs, jobsIn(all)...)
		return law.Sent{Clause: l.recordUnjudged(number, all, at), DueReplies: -1, MaxReplies: maxAnswers(all)}
	case isEnded && bytes.IndexByte(line, '\n') < 0:
		return l.recordLine(number, line, 1, at)
	}
	replies := -bytes.Count(all, []byte("\n"))
	if lf := bytes.IndexByte(all, '\n'); lf > 0 && all[lf-1] != '\r' { // an LF alone: the first answer is judged
		c.hasManyLines = true
		return l.recordLine(number, all[:lf+1], replies, at)
	}
	return law.Sent{Clause: l.recordUnjudged(number, all, at), DueReplies: replies}
}

// recordLine records one line.
func (l *fwpLaw) recordLine(number int, line []byte, replies int, at time.Time) law.Sent {
	c := l.conns[number]
	c.verb, c.awaitsReply = strings.TrimSpace(fwp.SplitCommand(line).Verb), true
	clause := l.world.FollowCommand(number, line, at)
	return law.Sent{
		Clause: clause, DueReplies: replies, IsJudged: l.world.Conns[number].Unjudged == fwplaw.Judged,
		Situation: l.world.Situation(number),
	}
}

// IsIdle implements [law.Idler].
func (l *fwpLaw) IsIdle(number int, now time.Time) bool { return l.world.IsIdle(number, now) }

// recordUnjudged records the first line of bytes whose answers are not judged, or the first
// that is malformed.
func (l *fwpLaw) recordUnjudged(number int, all []byte, at time.Time) (clause string) {
	var firstLine []byte
	for line := range bytes.Lines(all) {
		line = bytes.TrimRight(line, "\r\n")
		if isMalformed := fwplaw.ReadLine(line).Form != model.Okay; firstLine == nil || isMalformed {
			if firstLine = line; isMalformed {
				break
			}
		}
	}
	clause = l.world.FollowCommand(number, firstLine, at)
	l.world.RecordUnfollowed(all, fwplaw.NotLines, at)
	l.world.Conns[number].Unjudged = fwplaw.NotLines
	return clause
}

// maxAnswers returns how often any server may answer bytes: once for what it may take for
// the end of a line, for the rest, for each part of a line that is too long for it, and
// twice before it closes the connection.
func maxAnswers(all []byte) int {
	count := func(end string) int { return bytes.Count(all, []byte(end)) }
	return count("\n") + count("\r") - count("\r\n") + count("\x00") + len(all)/1024 + 3
}

// Judge judges a message.
func (l *fwpLaw) Judge(number int, m session.Message, at time.Time) (a law.Answer) {
	r := fwpsession.Reply(m)
	c, wc := l.conns[number], l.world.Conns[number]
	if !c.awaitsReply {
		l.world.RecordUnfollowed(r.Text, fwplaw.NotLines, at)
	}
	switch {
	case wc.State == fwp.Ended:
		a.Violation = l.violation("extra-reply", explore.RuleExtra, "<close>", r)
	case !c.awaitsReply && r.Kind == fwp.ErrorReply && c.isIntroduced: // behind the OK to HELLO (AMB-14)
		a.IsUnusable, a.Limit = true, true
	case !c.awaitsReply && at.Sub(c.replyTime) < time.Second:
		a.Violation = l.violation("extra-reply", explore.RuleExtra, "silence", r)
	case !c.awaitsReply:
		a.Violation = l.violation("unasked", "unasked", "silence", r)
	case wc.IsGreeted:
		a = l.judgeReply(number, r, m, at)
	default:
		a.Violation = l.world.Greet(number, r)
		if a.Rules.KeptRules = []string{"greeting"}; l.world.Protected {
			a.Rules.KeptRules = append(a.Rules.KeptRules, "salt")
		}
		a.IsUnusable = r.Kind == fwp.ErrorReply
		a.Limit = a.IsUnusable
	}
	a.IsJudged, a.Normal = wc.Unjudged == fwplaw.Judged, l.normalize(c.verb, r)
	c.awaitsReply, c.replyTime, c.lastMessage = false, at, m
	return a
}

func (l *fwpLaw) violation(breach, rule, expected string, r fwp.Reply) *law.Violation {
	return &law.Violation{Clause: model.ClauseOf(breach), Rule: rule, Expected: expected, Got: fwplaw.Text(r)}
}

// judgeReply judges the reply to a command.
func (l *fwpLaw) judgeReply(number int, r fwp.Reply, m session.Message, at time.Time) law.Answer {
	c, wc := l.conns[number], l.world.Conns[number]
	expected, before := l.world.Expects(number), wc.State
	wc.ArrivalTime = m.ArrivalTime
	answer, v := l.followReply(number, r, m.Lapse, at)
	isDeclined := v != nil && v.Rule == "refused"
	a := law.Answer{
		Violation: v, Reply: true, IsRefusal: r.Kind == fwp.ErrorReply,
		IsUnusable: isDeclined || v != nil && v.Rule == "foreign" && m.Lapse == nil && !fwplaw.IsAssumed(answer, expected),
		Empty:      answer == model.NullReply, Pattern: answer.String(), State: state(before, wc),
		Verb: verbOf(c.verb), Rules: wc.Decided,
	}
	a.Outcome = verbOf(c.verb) + " " + a.State + ": " + answer.String()
	c.isIntroduced = before == fwp.NotIdentified && wc.State == fwp.Identified
	a.Declined = before == fwp.NotIdentified && c.verb == fwp.HELLO && isDeclined
	if wc.State != before {
		a.Transition = before.String() + " > " + wc.State.String()
	}
	if wc.State == fwp.Ended {
		a.Closes = model.EndLinger
	}
	if answer == model.Delivered {
		a.JID = wc.Job
		a.Pattern = fmt.Sprintf(`${"jid":"%s"}`, quoteJSON(a.JID))
	} else if expected&model.OkayOrRefused == model.OkayOrRefused {
		a.OpenPattern = model.OkayOrRefused.String()
	}
	return a
}

// followReply tells the world of a reply, and returns what it is and what it breaks.
func (l *fwpLaw) followReply(
	number int, r fwp.Reply, lapse *session.SyntaxError, at time.Time,
) (model.Answer, *law.Violation) {
	answer, v := l.world.FollowReply(number, r, at)
	if v == nil {
		v = l.judgeForeign(lapse)
	}
	if l.conns[number].hasManyLines { // it may be the answer to what follows
		if v != nil {
			v.Doubtful = true
		}
		l.world.Conns[number].Unjudged = fwplaw.NotLines
	}
	return answer, v
}

// judgeForeign returns the violation of a reply that was read on although it is none of its command's, once for each
// verb.
func (l *fwpLaw) judgeForeign(lapse *session.SyntaxError) *law.Violation {
	if lapse == nil || !strings.HasPrefix(lapse.Rule, session.ImpossibleReply) || l.reportedLapses[lapse.Rule] {
		return nil
	}
	l.reportedLapses[lapse.Rule] = true
	return &law.Violation{
		Clause: model.ClauseOf(lapse.Rule), Rule: "foreign", Expected: lapse.Expected, Got: lapse.Got,
		Place: strings.TrimPrefix(lapse.Rule, session.ImpossibleReply) + ": " + model.Foreign.String(),
	}
}

// state returns the name of the state of a connection, for coverage.
func state(s fwp.State, c *fwplaw.Conn) string {
	if c.WID != "" && s != fwp.NotIdentified {
		return s.String() + " worker"
	}
	return s.String()
}

// verbOf returns a verb as coverage counts it.
func verbOf(verb string) string {
	if len(verb) > 8 || verb != strings.ToUpper(verb) {
		return "other"
	}
	return verb
}

// HalfClose records that a client has closed its half of a connection.
func (l *fwpLaw) HalfClose(number int) { l.world.Shut(number) }

// Close records the end of a connection.
func (l *fwpLaw) Close(number int, byServer bool, at time.Time) *law.Violation {
	delete(l.conns, number)
	return l.world.Close(number, byServer, at)
}

// State returns the name of the state of a connection.
func (l *fwpLaw) State(number int) string { c := l.world.Conns[number]; return state(c.State, c) }

// breaches are the names that the suite's table of clauses has for the rules of a player.
var breaches = map[string]string{
	explore.RuleExtra: "extra-reply", explore.RuleSilent: "no-reply", explore.RuleNoGreeting: "no-greeting",
}

// Clause returns the clause that is broken by what the player finds by itself.
func (l *fwpLaw) Clause(rule string) string {
	switch rule {
	case explore.RuleLingers:
		return "FWP-STATE-16"
	case explore.RuleCut:
		return "FWP-FRAME-05"
	case explore.RuleRestart:
		return "FWP-STATE-08"
	}
	if name, ok := breaches[rule]; ok {
		return model.ClauseOf(name)
	}
	return model.ClauseOf(rule) // of the grammar: its rules have one name everywhere
}

// Heartbeat returns the BEAT of a worker that has been silent.
func (l *fwpLaw) Heartbeat(number int, at time.Time) string {
	const every = 15 * time.Second
	c := l.world.Conns[number]
	if c.WID == "" || at.Sub(c.LastBeat) < every {
		return ""
	}
	return `BEAT {"wid":"` + c.WID + `"}`
}

// Value returns the password hash for the HI of a connection, or a wrong one.
func (l *fwpLaw) Value(number int, name string) string {
	hi := fwp.Hi{}
	if c := l.world.Conns[number]; c != nil {
		hi = c.Hi
	}
	_, variant, _ := strings.Cut(name, ".")
	h, err := fwpscript.PasswordHash(hi, l.Password, variant)
	if err != nil {
		return strings.Repeat("0", 64)
	}
	return h
}

// Operated records what was done to the server or to a worker. After a kill nothing is promised of any job.
func (l *fwpLaw) Operated(action target.Action, client string) {
	switch action {
	case target.Quiet, target.Terminate:
		l.world.Signal(client, string(action))
	case target.Pause, target.Partition:
		l.world.RecordHalt(time.Now())
	case target.Kill, target.KillServer:
		l.History.Killed()
		if !l.Disrupted {
			l.world.Unjudge("", fwplaw.Disallowed)
		}
		fallthrough
	default:
		if l.History.Restarted(); l.Disrupted {
			l.world.RecordStop(action != target.Restart, time.Now())
		} else {
			l.world.RecordRestart()
		}
	}
}

// Waits implements [law.Waiter].
func (l *fwpLaw) Waits(number int, m session.Message) bool {
	return l.world.Waits(number, fwpsession.Reply(m))
}

// StopJudging ends the judging of a job, or of all.
func (l *fwpLaw) StopJudging(jid string) {
	l.world.Unjudge(jid, fwplaw.Reported)
}

// symbol returns a name of the play as steps have it, and any other name unchanged.
func (l *fwpLaw) symbol(name string) string {
	if rest, ok := strings.CutPrefix(name, l.NamePrefix+"-"); ok {
		return "$" + rest
	}
	return name
}

// symbols returns a line with the names of the play as steps have them.
func (l *fwpLaw) symbols(line string) string {
	return strings.ReplaceAll(strings.ReplaceAll(line, "$", "$$"), l.NamePrefix+"-", "$")
}

// realName returns the name of the play behind one that stands in steps.
func (l *fwpLaw) realName(symbol string) string {
	return l.NamePrefix + "-" + strings.TrimPrefix(symbol, "$")
}

// worker returns the number of a worker id of the play.
func (l *fwpLaw) worker(wid string) (n int, ok bool) {
	_, err := fmt.Sscanf(l.symbol(wid), "$wid%d", &n)
	return n, err == nil && l.symbol(wid) == fmt.Sprintf("$wid%d", n)
}
