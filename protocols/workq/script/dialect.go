// Package script is Workq as scripts are written in it and played: what is particular to it in the script language and
// in the engine of package scenarios (a [Dialect]), and the scripts of the suite.
package script

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// Name is the name of the protocol in the header of scripts.
const Name = "workq"

// Dialect is the client's side of Workq. The zero value is ready, and safe for concurrent use.
//
// A reply is written on one line, what stands on lines of its own separated by blanks: words stand for themselves, a
// block is a string, and the keys of inspect are a JSON object. A command has its block on a line of its own, or behind
// " <- ", where a * in the line stands for its size.
type Dialect struct{ workqsession.Codec }

// Grammar returns what scripts may write.
func (Dialect) Grammar() *scenarios.Grammar { return grammar() }

const familyID = "id"

// grammar is made once; it never changes.
var grammar = sync.OnceValue(func() *scenarios.Grammar {
	wait := scenarios.Wait{Kind: workqsession.Timeout}
	failure := func(word string, kind byte, value scenarios.Value, words string, refusal bool) scenarios.Form {
		return scenarios.Form{
			Sign: "-" + word, Kind: kind, Value: value, Words: words, Refusal: refusal, Example: "-" + word,
		}
	}
	return &scenarios.Grammar{
		Name: Name, Encoding: "Workq",
		Example: "C: delete $id   and   S: -NOT-FOUND",
		Forms: []scenarios.Form{
			{
				Sign: "+OK", Kind: workqsession.OK, Value: scenarios.WordsValue, Words: "a success",
				Example: `+OK, +OK 1 $id $name 1000 4 "pong"`, Sample: "+OK",
			},
			failure(workq.ClientError, workqsession.ClientError, scenarios.LineValue, "a client error", true),
			failure(workq.ServerError, workqsession.ServerError, scenarios.LineValue, "a server error", true),
			failure(workq.Timeout, workqsession.Timeout, scenarios.NoValue, "a timeout", false),
			failure(workq.NotFound, workqsession.NotFound, scenarios.NoValue, "the reply for an unknown job", false),
		},
		Names: scenarios.Names{
			Families: []string{familyID, "name"}, Client: "name", NewValue: newName, TimeForm: "2006-01-02T15:04:05Z07:00",
		},
		Lines: scenarios.Lines{WithBody: withBlock},
		Replies: scenarios.Replies{
			MayBeLate: map[string]scenarios.Wait{workq.Lease: wait, workq.Result: wait, workq.Run: wait}, WaitOf: waitTime,
		},
		Timing: scenarios.Timing{Delays: []string{workq.Schedule, workq.Fail, workq.Lease}},
	}
})

// waitTime returns the wait-timeout of a command, and of run the time to run too. (run; result; lease)
func waitTime(command []byte) time.Duration {
	c, _, err := workq.ParseCommand(command)
	if err != nil {
		return 0
	}
	const limit = uint64(24 * time.Hour / time.Millisecond)
	wait := time.Duration(min(c.Wait, limit)) * time.Millisecond //nolint:gosec // a day
	if c.Verb == workq.Run {
		wait += time.Duration(min(c.TTR, limit)) * time.Millisecond //nolint:gosec // a day
	}
	return wait
}

// newName returns a UUID of version 4 for an id, since the document asks for one; any other name is as it is. The ids
// of a play are alike: each two differ in one or two of their five groups, so that a server that compares less of them
// than all takes some for others. (add, id)
func newName(family, unique string) string {
	if family != familyID {
		return unique
	}
	const valueCount = 1 << 12 // values of a group
	play := unique[:max(0, strings.LastIndex(unique, "-"+familyID))]
	n, err := strconv.ParseUint(unique[strings.LastIndexFunc(unique, isNotDigit)+1:], 10, 32)
	if err != nil {
		play = unique
	}
	b := sha256.Sum256([]byte(play))
	ends := []int{4, 6, 8, 10, 16} // of the groups
	end, value := ends[n%5], n/5+1
	if value >= valueCount {
		end, value = ends[4], n
	}
	b[end-1], b[end-2] = b[end-1]^byte(value), b[end-2]^byte(value>>8)
	if end == ends[4] {
		b[end-3], b[end-4] = b[end-3]^byte(value>>16), b[end-4]^byte(value>>24)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func isNotDigit(r rune) bool { return r < '0' || r > '9' }

// blockSign stands between a line and its block, and sizeSign in the line for the size of the block.
const (
	blockSign = " <-"
	sizeSign  = "*"
)

// withBlock returns a line with its block behind it, and the size filled in.
func withBlock(line string) string {
	head, block, ok := strings.Cut(line, blockSign)
	if !ok || block != "" && block[0] != ' ' {
		return line
	}
	block = strings.TrimPrefix(block, " ")
	words := strings.Split(head, " ")
	if i := slices.Index(words, sizeSign); i >= 0 {
		words[i] = strconv.Itoa(len(block))
	}
	return strings.Join(words, " ") + "\r\n" + block
}

// Hello returns nothing to send: a client does not introduce itself. (Protocol)
func (Dialect) Hello(scenarios.Role, session.State) (scenarios.Hello, bool) {
	return scenarios.Hello{}, true
}

// Probe returns the inspection of the first queue: a real server was found to send more lines of inspect server than
// it announces. (inspect queues)
func (Dialect) Probe(scenarios.Role, session.State) string { return workq.InspectQueues + " 0 1" }

// Sample returns the state of a new conversation.
func (Dialect) Sample(bool) session.State {
	_, s := workqsession.Codec{}.Begin(nil)
	return s
}

// Check returns what is wrong with a line, which may be the second one of a command. (Protocol; the commands)
func (Dialect) Check(_ scenarios.Role, s session.State, line []byte) (bug string, advice []scenarios.Advice) {
	command := slices.Concat(s.(*workqsession.State).Partial(), line, []byte("\r\n"))
	c, n, err := workq.ParseCommand(command)
	switch {
	case errors.Is(err, workq.ErrShort):
		return "", nil
	case err != nil:
		return err.Error(), nil
	case n < len(command):
		return "expected one command", nil
	}
	if c.ID != "" && c.ID[14] != '4' {
		advice = append(advice, scenarios.Advice{
			Message: fmt.Sprintf("%s is not a UUID of version 4, which some servers refuse", c.ID),
			Help:    "$id makes a fresh one",
		})
	}
	return "", advice
}

// IsImpossible reports whether a reply is not in the list of its command, or is about another job. Every command may be
// answered with an error of the client or of the server. (Errors; the replies of the commands)
func (Dialect) IsImpossible(command []byte, m session.Message) bool {
	c, _, err := workq.ParseCommand(command)
	mayWait := c.Verb == workq.Lease || c.Verb == workq.Run || c.Verb == workq.Result
	hasJob := c.ID != "" && c.Verb != workq.Add && c.Verb != workq.Schedule
	switch m.Kind {
	case workqsession.ClientError, workqsession.ServerError:
		return false
	case workqsession.Timeout:
		return !mayWait
	case workqsession.NotFound:
		return !hasJob && !strings.HasPrefix(c.Verb, workq.Inspect)
	}
	if err != nil {
		return false // whether it may succeed at all is for the script
	}
	return !matches(c, m)
}

// Mend implements [scenarios.Mender]: the only record of a success is about the job, or the queue, that the command
// names.
func (Dialect) Mend(command []byte, m session.Message) (mended session.Message, was string) {
	c, _, err := workq.ParseCommand(command)
	answer := answers[c.Verb]
	_, records := workqsession.ShapeOf(m)
	if err != nil || answer.target == nil || m.Kind != workqsession.OK || records != 1 {
		return m, ""
	}
	want := answer.mismatch(c, string(m.Parts[1]))
	if want == "" {
		return m, ""
	}
	was = string(m.Parts[1])
	m.Parts = slices.Clone(m.Parts)
	m.Parts[1] = []byte(want)
	return m, was
}

// answer is what the records of a success are. about returns what the only one is about, "" for anything; nil: there
// may be any number of them.
type answer struct {
	shape  workqsession.Shape
	target func(c workq.Command) string
}

// answers are those of the commands that have records.
var answers = map[string]answer{
	workq.Lease:            {workqsession.Leased, func(workq.Command) string { return "" }},
	workq.Run:              {workqsession.Result, jobID},
	workq.Result:           {workqsession.Result, jobID},
	workq.InspectJob:       {workqsession.Inspected, jobID},
	workq.InspectQueue:     {workqsession.Inspected, workq.Command.Name},
	workq.InspectServer:    {workqsession.Inspected, func(workq.Command) string { return "server" }},
	workq.InspectJobs:      {shape: workqsession.Inspected},
	workq.InspectScheduled: {shape: workqsession.Inspected},
	workq.InspectQueues:    {shape: workqsession.Inspected},
}

func jobID(c workq.Command) string { return c.ID }

// mismatch returns what the only record of a success should be about, "" if it is.
func (w answer) mismatch(c workq.Command, first string) string {
	want := w.target(c)
	if first == want || c.ID != "" && strings.EqualFold(first, want) {
		return ""
	}
	return want
}

// matches reports whether the records of a success are those that a command has.
func matches(c workq.Command, m session.Message) bool {
	shape, records := workqsession.ShapeOf(m)
	want := answers[c.Verb] // no records, unless it is listed
	if shape != want.shape || want.target == nil {
		return shape == want.shape
	}
	return records == 1 && want.mismatch(c, string(m.Parts[1])) == ""
}

//go:embed scripts
var suiteFiles embed.FS

var suite = scenarios.Suite(Dialect{}, suiteFiles)

// Suite returns the scripts that come with the suite, in the order of their names. A script's name is its check id: the
// folder and the file without its ending. All callers share the scripts: none may change one. The error is
// that of the first one that does not parse, which a test of the suite would have found.
func Suite() ([]*scenarios.Script, error) { return suite() }
