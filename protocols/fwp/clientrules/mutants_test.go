package clientrules

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// mutant is a right stream in which something is left out, repeated or altered.
type mutant struct {
	change string // the event and the change: "C ACK without jid"
	lines  []string
}

// expandGreetings returns lines with the greetings in full.
func expandGreetings(lines []string) (all []string) {
	for _, line := range lines {
		words := append(strings.Fields(line), "", "", "")
		hello := fwp.Hello{}
		switch words[1] {
		case "worker":
			process, _ := strconv.Atoi(strings.TrimPrefix(words[3], "p")) // 0 for none
			hello = fwp.Hello{Hostname: "h", WorkerID: words[2], PID: 7 + process}
			words = words[1:]
		case "producer":
		default:
			all = append(all, line)
			continue
		}
		conn, _, _ := strings.Cut(line, " ")
		sent := strings.TrimSpace(string(fwp.AppendCommand(nil, hello.Command())))
		opened := strings.TrimSpace(conn + " open " + words[2])
		all = append(all, opened, conn+` S: +HI {"v":2}`, conn+" C: "+sent, conn+" S: +OK")
	}
	return all
}

// The lines that are a whole command, and the end of a connection.
var (
	wholeCommand = regexp.MustCompile(`^C: [^"<]`)
	endPattern   = regexp.MustCompile(`^\S+ [CS]: <(close|fin|reset)>$`)
)

// mutantsOf returns a stream with its greetings in full, and its mutants that differ.
func mutantsOf(stream string) (all []mutant) {
	lines, isAdded := expandGreetings(linesOf(stream)), map[string]bool{}
	add := func(change string, lines []string) {
		if text := strings.Join(lines, "\n"); !isAdded[text] {
			isAdded[text] = true
			all = append(all, mutant{change, lines})
		}
	}
	add("", lines)
	for i, line := range lines {
		if slices.Index(lines, line) < i {
			continue
		}
		count := 1 // the line, and its reply
		conn, rest, _ := strings.Cut(line, " ")
		if wholeCommand.MatchString(rest) && i+1 < len(lines) && strings.HasPrefix(lines[i+1], conn+" S: ") &&
			!endPattern.MatchString(lines[i+1]) {
			count = 2
		}
		name, others := changes(line, stream)
		if name == "" {
			continue
		}
		add(name+" dropped", slices.Delete(slices.Clone(lines), i, i+count))
		add(name+" repeated", slices.Insert(slices.Clone(lines), i, lines[i:i+count]...))
		for change, other := range others {
			add(name+" "+change, slices.Replace(slices.Clone(lines), i, i+1, other))
		}
		if strings.HasPrefix(name, "C") {
			add(name+" never, as it closes", append(slices.Clone(lines[:i]), conn+" C: <close>"))
		}
	}
	for _, conn := range []string{"1", "2"} {
		const fetch = "\n+2s\n%[1]s C: FETCH\n%[1]s S: $-1"
		add("C FETCH again and again", append(slices.Clone(lines), linesOf(fmt.Sprintf(strings.Repeat(fetch, 12), conn))...))
	}
	return all
}

// changes returns the name of an event, "" for one that is left as it is, and what it can be instead.
func changes(line, stream string) (name string, others map[string]string) {
	conn, rest, _ := strings.Cut(line, " ")
	verb, args, _ := strings.Cut(rest, " ")
	others = map[string]string{}
	switch {
	case line == "+1s", line == "end", conn == "lag":
		return "", nil
	case strings.HasPrefix(line, "+"):
		return "time", map[string]string{"longer": "+70s"}
	case endPattern.MatchString(line):
		for _, other := range []string{"C: <close>", "S: <close>", "C: <reset>"} {
			others["is "+other] = conn + " " + other
		}
		return "end", others
	case strings.HasPrefix(args, `"`):
		return verb[:1] + ", in part", nil
	case verb == "C:":
		e, _ := transcript.Parse(line) // its stream was parsed
		sent := strings.TrimSuffix(string(e[0].Bytes), "\r\n")
		for name, other := range otherLines(sent, stream) {
			others[name] = fmt.Sprintf("%s C: %q", conn, other)
		}
		return "C " + Verb([]byte(sent)), others
	case verb == "S:":
		for _, other := range []string{"+OK", "-ERR no", "$-1", "${}", "OK"} {
			others["is "+other] = conn + " S: " + other
		}
	}
	return strings.TrimSuffix(verb, ":"), others
}

// otherLines returns what a client may send instead of a line.
func otherLines(line, stream string) map[string]string {
	verb, args, _ := strings.Cut(line, " ")
	all := map[string]string{
		"without CR": line + "\n", "with a space": line + " \r\n", "in Latin 1": line + "\xe9\r\n",
		"in lower case":    strings.ToLower(verb) + line[len(verb):] + "\r\n",
		"for no server":    line + "\r\n" + line + "\r\n",
		"of another queue": "FETCH another\r\n",
	}
	if verb != fwp.FETCH {
		delete(all, "of another queue")
	}
	for other := range strings.FieldsSeq("HELLO PUSH FETCH ACK FAIL BEAT INFO FLUSH END") {
		if other != verb {
			all["as "+other] = strings.TrimSpace(other+" "+args) + "\r\n"
		}
	}
	fields := object([]byte(args))
	for name, value := range fields {
		for change, other := range otherValues(name, value, stream) {
			changed := maps.Clone(fields)
			if changed[name] = other; change == "without" {
				delete(changed, name)
			}
			text, _ := json.Marshal(changed)
			all[change+" "+name] = verb + " " + string(text) + "\r\n"
		}
	}
	return all
}

func otherValues(name string, value any, stream string) map[string]any {
	all := map[string]any{
		"without": nil, "with null for": nil, "with {} for": map[string]any{}, "with another": "another",
	}
	switch value := value.(type) {
	case string:
		if all["with a number for"] = 1; value != "" {
			all["with an empty"] = ""
		}
	case json.Number:
		all["with another"], all["with a string for"] = json.Number(value.String()+"1"), value.String()
	case []any:
		all["with another"] = append(slices.Clone(value), "x")
	}
	for _, found := range jids.FindAllStringIndex(stream, -1) {
		other, _, _ := strings.Cut(stream[found[1]:], `"`)
		if name == "jid" && other != value && !strings.Contains(other, `\`) {
			all["with the other"] = other
		}
	}
	return all
}

// class is a kind of mutants, and why they break nothing.
type class struct {
	pattern string // a regular expression
	reason  string
}

// classes are why a mutant of what a client sends breaks nothing.
var classes = []class{
	{`^\w+ (dropped|never, as it closes)$`, "a client may do less; what it has to do is seen at its end, or in time"},
	{`^\w+ (repeated|again and again)$`, "a command may be sent again; what a second HELLO is, is open (AMB-09)"},
	{`^(ACK|BEAT|FAIL|END|FETCH|FLUSH|INFO) as (FETCH|FLUSH|INFO|END)$`, "another command may be sent there"},
	{`^ACK with the other jid$`, "it is that of a job that the worker has, too"},
	{`^MUTATE with a space$`, "a server may know other verbs"},
	{` (lang|n|bid)$`, "other fields may be there"},
	{`^(BEAT|PUSH) (with null for|without) `, "optional fields may be missing; those of a job that are not break a rule"},
	{`^FAIL with (an empty|another) (errtype|message|backtrace)$`, "a text may be any, one of two may be empty"},
	{`^HELLO with (an empty|another) pwdhash$`, "it needs the password"},
	{`^HELLO (with an empty|with another|without) `, "a client may be any, if it is the same one later"},
	{`^PUSH with (an empty|another|\{\} for) (args|at|backtrace|custom|jid|jobtype|queue|reserve_for|retry)$`,
		"a value of the type may be any; whether a text may be empty is open (AMB-15)"},
	{`^BEAT with (an empty current_state|another rss_kb)$`, "it tells no state; an integer may be any"},
	{`^FETCH of another queue$`, "it needs the queues"},
}

// brokenRules returns the names of the rules that a mutant breaks.
func brokenRules(t *testing.T, test ruleTest, m mutant) (names []string) {
	t.Helper()
	events, end := streamIn(t, 1, m.lines)
	for breach, state := range states(judgeAll(test.cfg, events, end)) {
		if state == StateBroken {
			names = append(names, breach)
		}
	}
	return names
}

// Each rule can fail, and no client is to blame for a reply that comes twice. What a client does otherwise and nothing
// notices is in a class.
func TestMutants(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	isBroken := map[string]bool{PasswordEscaped: true} // its values are computed
	counts, patterns := make([]int, len(classes)), make([]*regexp.Regexp, len(classes))
	for i, class := range classes {
		patterns[i] = regexp.MustCompile(class.pattern)
	}
	for _, test := range rightTests() {
		events, _ := streamOf(t, test.stream)
		isUnseen := losesWorker(events) || strings.Contains(test.stream, "S: <fin>") // what is sent there is not judged
		for _, m := range mutantsOf(test.stream) {
			names := brokenRules(t, test, m)
			for _, breach := range names {
				isBroken[breach] = true
				assert.NotEmpty(t, m.change, "%s/%s: greetings in full break %s", test.breach, test.name, breach)
				isRight := breach == Unasked || m.change != "S repeated"
				assert.True(t, isRight, "%s/%s: a reply twice breaks %s\n%s", test.breach, test.name, breach, m)
			}
			if change, ok := strings.CutPrefix(m.change, "C "); ok && !isUnseen && len(names) == 0 {
				class := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(change) })
				if assert.GreaterOrEqual(t, class, 0, "%s/%s: %s breaks nothing\n%s", test.breach, test.name, m.change, m) {
					counts[class]++
				}
			}
		}
	}
	for i, class := range classes {
		assert.NotZero(t, counts[i], "no mutant is in the class %s", class.pattern)
	}
	for _, rule := range slices.Concat(Rules(), ServerRules()) {
		assert.True(t, isBroken[rule.Breach], "no mutant breaks %s", rule.Breach)
	}
	t.Log(counts)
}
