package script

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// Profile names a family of servers whose clients may send more than the specification has. The empty one is the
// specification.
type Profile string

// Faktory is Contributed Systems' Faktory.
const Faktory Profile = "faktory"

// additions are the verbs of Faktory with the rules that their arguments break, "" if they break none.
var additions = map[string]func(args []byte) string{
	"PUSHB":  illegalJobs,
	"MUTATE": illegalMutate,
	"QUEUE":  oneOf("PAUSE", "RESUME", "REMOVE", "LATENCY"),
	"BATCH":  oneOf("NEW", "OPEN", "COMMIT", "STATUS"),
	"TRACK":  oneOf("GET", "SET"),
}

// Adds reports whether clients of the family may send a verb that the specification does not have.
func (p Profile) Adds(verb string) bool { return p == Faktory && additions[verb] != nil }

// illegal returns the rule that a line with a verb that the profile adds breaks.
func (p Profile) illegal(state fwp.State, line []byte) string {
	cmd := fwp.SplitCommand(line)
	switch {
	case !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n"):
		return "a command must be one line of UTF-8"
	case !state.Allows(fwp.PUSH):
		return fmt.Sprintf("%s must not be sent while the connection is %s", cmd.Verb, state)
	}
	return additions[cmd.Verb](cmd.Args)
}

func illegalJobs(args []byte) string {
	value, err := number.Decode(args)
	jobs, ok := value.([]any)
	if err != nil || !ok {
		return "the argument of PUSHB is not a JSON array of jobs"
	}
	for _, job := range jobs {
		fields, ok := job.(map[string]any)
		if !ok {
			return "a job of a PUSHB is not a JSON object"
		}
		if s := brokenField(fwp.PUSH, fields); s != "" {
			return s
		}
		if s := illegalJob(fields); s != "" {
			return s
		}
	}
	return ""
}

func illegalMutate(args []byte) string {
	fields := number.Object(args)
	cmd, _ := fields["cmd"].(string)
	target, _ := fields["target"].(string)
	switch {
	case fields == nil:
		return "the argument is not a JSON object"
	case !slices.Contains([]string{"kill", "discard", "requeue", "clear"}, cmd):
		return "cmd must be kill, discard, requeue or clear"
	case !slices.Contains([]string{"scheduled", "retries", "dead"}, target):
		return "target must be scheduled, retries or dead"
	}
	return ""
}

// oneOf is the rule of a command that takes a word, and something behind it.
func oneOf(words ...string) func(args []byte) string {
	return func(args []byte) string {
		word, rest, _ := bytes.Cut(args, []byte(" "))
		if !slices.Contains(words, strings.ToUpper(string(word))) || len(bytes.TrimSpace(rest)) == 0 {
			return "it takes " + strings.Join(words, ", ") + ", and an argument"
		}
		return ""
	}
}

//go:embed profiles
var profileFiles embed.FS

// Scripts returns the scripts that the profile adds to the suite. Callers must not change them.
func (p Profile) Scripts() ([]*scenarios.Script, error) {
	return scenarios.ReadSuite(Dialect{Profile: p}, profileFiles, "profiles/"+string(p))
}

// Checked returns the verbs that the profile's scripts are about. BATCH and TRACK have none: no public server has them.
func (p Profile) Checked() []string { return []string{"PUSHB", "QUEUE", "MUTATE"} }

// Missing returns those of the Checked verbs that a server answers as it answers a verb that there is not, all if it
// ends the connection. nc is a fresh connection, which Missing closes. It blocks until it has the replies, with timeout
// for each.
func (p Profile) Missing(ctx context.Context, nc net.Conn, password string, timeout time.Duration) (missing []string) {
	c, err := Greet(ctx, nc, fmt.Sprintf("fwpcheck-verbs-%d", os.Getpid()), password, timeout)
	defer c.Leave()
	if err != nil {
		return p.Checked()
	}
	const none = "NOSUCHVERB"
	reply := func(verb string) string {
		m, err := c.Ask(verb + " {}")
		if err != nil && !isRefused(err) {
			return ""
		}
		return strings.ReplaceAll(string(m.Text), verb, none)
	}
	unknown := reply(none)
	for _, verb := range p.Checked() {
		if answer := reply(verb); answer == unknown || answer == "" {
			missing = append(missing, verb)
		}
	}
	return missing
}
