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

// Extension names what some servers add to the specification, and their clients may send. The empty one is the
// specification.
type Extension string

// Faktory is Contributed Systems' Faktory.
const Faktory Extension = "faktory"

// extensionVerbs are the verbs of Faktory with the rules that their arguments break, "" if they break none.
var extensionVerbs = map[string]func(args []byte) string{
	"PUSHB":  illegalJobs,
	"MUTATE": illegalMutate,
	"QUEUE":  oneOf("PAUSE", "RESUME", "REMOVE", "LATENCY"),
	"BATCH":  oneOf("NEW", "OPEN", "COMMIT", "STATUS"),
	"TRACK":  oneOf("GET", "SET"),
}

// Has reports whether clients may send a verb that the specification does not have.
func (p Extension) Has(verb string) bool { return p == Faktory && extensionVerbs[verb] != nil }

// illegal returns the rule that a line with a verb that the extension adds breaks.
func (p Extension) illegal(state fwp.State, line []byte) string {
	cmd := fwp.SplitCommand(line)
	switch {
	case !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n"):
		return "a command must be one line of UTF-8"
	case !state.Allows(fwp.PUSH):
		return fmt.Sprintf("%s must not be sent while the connection is %s", cmd.Verb, state)
	}
	return extensionVerbs[cmd.Verb](cmd.Args)
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

//go:embed extensions
var extensionFiles embed.FS

// Scripts returns the scripts that the extension adds to the suite. Callers must not change them.
func (p Extension) Scripts() ([]*scenarios.Script, error) {
	return scenarios.ReadSuite(Dialect{Extension: p}, extensionFiles, "extensions/"+string(p))
}

// TestedVerbs returns the verbs that the extension's scripts are about. BATCH and TRACK have none: no public server has
// them.
func (p Extension) TestedVerbs() []string { return []string{"PUSHB", "QUEUE", "MUTATE"} }

// MissingVerbs returns those of the Checked verbs that a server answers as it answers a verb that there is not, all if
// it ends the connection. nc is a fresh connection, which Missing closes. It blocks until it has the replies, with
// timeout for each.
func (p Extension) MissingVerbs(ctx context.Context, nc net.Conn, password string,
	timeout time.Duration) (missing []string) {
	c, err := Greet(ctx, nc, fmt.Sprintf("fwpcheck-verbs-%d", os.Getpid()), password, timeout)
	defer c.Leave()
	if err != nil {
		return p.TestedVerbs()
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
	for _, verb := range p.TestedVerbs() {
		if answer := reply(verb); answer == unknown || answer == "" {
			missing = append(missing, verb)
		}
	}
	return missing
}
