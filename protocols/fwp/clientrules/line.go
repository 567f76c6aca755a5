package clientrules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// MaxMessage bounds what a builder keeps of one line, and of one reply, in bytes. What is longer passes unjudged.
const MaxMessage = 16 << 20

// Mistake is the rule of the syntax of lines that a client broke.
type Mistake uint8

// The mistakes.
const (
	MistakeUTF8   Mistake = iota + 1 // the line is not UTF-8
	MistakeForm                      // what follows the verb is not one space, or stands where there must be nothing
	MistakeSyntax                    // another mistake: JSON, white space, a verb in lower case
)

// SyntaxMistake is a line that breaks the syntax of the specification.
type SyntaxMistake struct {
	Mistake Mistake
	Text    string // where, what was expected and what was there
}

// Error returns where the line is wrong, what was expected and what was there.
func (f *SyntaxMistake) Error() string { return f.Text }

// readLine fills in an event of kind Line from a line with its LF. The event keeps a copy.
func readLine(e *Event, line []byte) {
	e.Raw, e.Size = bytes.Clone(line), len(line)
	body := bytes.TrimSuffix(bytes.TrimSuffix(e.Raw, []byte("\n")), []byte("\r"))
	command, err := fwp.ParseCommand(body)
	if err != nil { // what follows is judged by what the line was meant to be
		e.blame(body)
		for _, mend := range []func([]byte) []byte{mendVerb, mendArguments} {
			if next := mend(body); !bytes.Equal(next, body) {
				body = next
				e.blame(body)
			}
		}
		command = fwp.SplitCommand(body)
	}
	e.Command, e.Object = command, object(command.Args)
	e.Command.Verb = shortenName(e.Command.Verb)
	for _, key := range []string{"jid", "wid", "current_state"} {
		if value, ok := e.Object[key].(string); ok {
			e.Object[key] = shortenName(value)
		}
	}
}

// blame adds the mistake for which a text is refused, if it is one.
func (e *Event) blame(body []byte) {
	if _, err := fwp.ParseCommand(body); err != nil {
		if mistake := mistakeOf(body, err); mistake != nil {
			e.Mistakes = append(e.Mistakes, *mistake)
		}
	}
}

// Mend returns what a line without its end was meant to be, if its verb is written in another case, or its words are
// not separated by one space each. Servers in use carry such lines out, so a client that writes all lines like that
// is judged by what is in them. Other lines are returned as they are.
func Mend(line []byte) []byte { return mendArguments(mendVerb(line)) }

// mendVerb returns a line with its verb in capitals, and one space or none behind it.
func mendVerb(line []byte) []byte {
	trimmed := bytes.TrimLeft(line, " \t")
	verb := strings.ToUpper(Verb(trimmed))
	rest := trimmed[len(verb):]
	if !fwp.Identified.Allows(verb) || len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t{") {
		return line
	}
	if rest = bytes.TrimLeft(rest, " \t"); len(rest) > 0 {
		verb += " "
	}
	return append([]byte(verb), rest...)
}

// mendArguments returns a line whose verb is right with one space between its arguments, and none behind them.
func mendArguments(line []byte) []byte {
	verb := Verb(line)
	if !fwp.Identified.Allows(verb) || !bytes.HasPrefix(line[len(verb):], []byte(" ")) {
		return line
	}
	words := [][]byte{bytes.TrimSpace(line[len(verb):])}
	if verb == fwp.FETCH {
		words = bytes.Fields(line[len(verb):])
	}
	return append([]byte(verb+" "), bytes.Join(words, []byte(" "))...)
}

// maxName bounds a verb and an id: those of commands in flight, of jobs and of workers are kept.
const maxName = 1000

// shortenName returns a name, or a short text that stands for one that is too long.
func shortenName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return fmt.Sprintf("%.100s... (%d bytes, %016x)", name, len(name), hashOf(name))
}

// readLongLine fills in the event of a line of which only the beginning was kept.
func readLongLine(e *Event, start []byte, size int) {
	e.Raw, e.Size, e.IsUnread = bytes.Clone(start), size, true
	e.Command = fwp.Command{Verb: shortenName(fwp.SplitCommand(e.Raw).Verb)}
}

// mistakeOf returns that of a line which ParseCommand refuses; nil for a verb that the specification does not have,
// which a server may know.
func mistakeOf(body []byte, err error) *SyntaxMistake {
	if !utf8.Valid(body) {
		return &SyntaxMistake{MistakeUTF8, err.Error()}
	}
	var cmdErr *fwp.CommandError
	if !errors.As(err, &cmdErr) {
		return &SyntaxMistake{MistakeSyntax, err.Error()}
	}
	verb := Verb(body)
	switch {
	case isForeignVerb(fwp.SplitCommand(body).Verb):
		return nil
	case cmdErr.Offset <= len(verb)+1 && fwp.Identified.Allows(verb):
		return &SyntaxMistake{MistakeForm, cmdErr.Error()}
	}
	return &SyntaxMistake{MistakeSyntax, cmdErr.Error()}
}

// readJob reads a work unit, and returns nil for one without a jid.
func readJob(text []byte) *Job {
	var j Job
	if json.Unmarshal(text, &j) != nil || j.JID == "" {
		return nil
	}
	j.JID = shortenName(j.JID)
	return &j
}

// Queues returns the queues that a FETCH names; a FETCH without any is one of the queue default.
func (e *Event) Queues() []string {
	if len(e.Command.Args) == 0 {
		return []string{"default"}
	}
	return strings.Fields(string(e.Command.Args)) // line-syntax has superfluous spaces
}

// Verb returns the letters that a line begins with: its verb, also where no space stands behind it.
func Verb(line []byte) string {
	end := bytes.IndexFunc(line, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' })
	if end < 0 {
		end = len(line)
	}
	return string(line[:end])
}

// isForeignVerb reports whether a verb is a word in upper case that the specification does not have. Servers have such
// verbs as extensions.
func isForeignVerb(verb string) bool {
	isOther := func(c rune) bool { return c < 'A' || c > 'Z' }
	return verb != "" && !strings.ContainsFunc(verb, isOther) && !fwp.Identified.Allows(verb)
}

// object returns the JSON object that args is, or nil.
func object(args []byte) map[string]any {
	if len(args) == 0 || args[0] != '{' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return nil
	}
	return fields
}

func quoteAny(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return shortText(b)
}
