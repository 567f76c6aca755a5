package fwp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The verbs of the protocol's commands. (Client Commands)
const (
	HELLO = "HELLO" // identify and authenticate
	FLUSH = "FLUSH" // clear the server's database
	INFO  = "INFO"  // ask about the server
	END   = "END"   // end the session
	PUSH  = "PUSH"  // enqueue a work unit
	FETCH = "FETCH" // ask for a work unit
	ACK   = "ACK"   // report a work unit as done
	FAIL  = "FAIL"  // report a work unit as failed
	BEAT  = "BEAT"  // show liveness, learn of state changes
)

// Command is one command line, split at its first space. (Client Protocol Sender)
type Command struct {
	// Verb is the text before the first space; [ParseCommand] allows only the
	// verbs above, [SplitCommand] any text.
	Verb string

	// Args is the text after that space. Nil means that no space followed the
	// verb; empty and not nil means that nothing followed the space, which is a
	// syntax error in every command.
	Args []byte
}

// SplitCommand splits a line, given without its CRLF, at the first space. It checks
// nothing: any bytes give a Command, and appending that Command gives the same bytes.
// Args aliases line. (Client Protocol Sender)
func SplitCommand(line []byte) Command {
	verb, args, found := bytes.Cut(line, []byte{' '})
	if !found {
		return Command{Verb: verbString(verb)}
	}
	return Command{Verb: verbString(verb), Args: slices.Clip(args)}
}

// AppendCommand appends c to dst as a line with its CRLF. It checks nothing, so
// that broken commands can be sent on purpose. (Client Protocol Sender)
func AppendCommand(dst []byte, c Command) []byte {
	dst = append(dst, c.Verb...)
	if c.Args != nil {
		dst = append(dst, ' ')
		dst = append(dst, c.Args...)
	}
	return append(dst, crlf...)
}

var verbs = [...]string{HELLO, FLUSH, INFO, END, PUSH, FETCH, ACK, FAIL, BEAT}

// verbString returns known verbs without allocating.
func verbString(b []byte) string {
	for _, v := range verbs {
		if string(b) == v {
			return v
		}
	}
	return string(b)
}

func isVerb(verb string) bool { return slices.Contains(verbs[:], verb) }

// CommandError is a command line that breaks the syntax of the specification.
// (Client Protocol Sender; Client Commands)
type CommandError struct {
	// Offset is the first wrong byte of the line, counted from 0.
	Offset int
	// Expected describes what the syntax requires there.
	Expected string
	// Got quotes the text there, or is "the end of the line".
	Got string
}

// Error returns the offset, what was expected and what is there.
func (e *CommandError) Error() string {
	return fmt.Sprintf("command syntax: byte %d: expected %s, got %s", e.Offset, e.Expected, e.Got)
}

// ParseCommand splits a line, given without its CRLF, and checks it by the strict
// syntax for clients: a known verb in upper case, then
//
//   - for FLUSH, INFO and END nothing at all;
//   - for HELLO, PUSH, ACK, FAIL and BEAT one space and one JSON object with
//     nothing before or after it; white space inside the object is allowed;
//   - for FETCH any number of queue names, each after exactly one space. A name
//     is any text without white space.
//
// The line must be UTF-8 without CR and LF. The object's fields are not checked.
// Every error is a *[CommandError]; Args aliases line.
// (Client Protocol Sender; Client Commands)
func ParseCommand(line []byte) (Command, error) {
	if i := bytes.IndexAny(line, crlf); i >= 0 {
		return Command{}, commandError(line, i, "a line without CR or LF inside")
	}
	if !utf8.Valid(line) {
		return Command{}, commandError(line, firstInvalid(line), "UTF-8 text")
	}
	c := SplitCommand(line)
	var err *CommandError
	switch c.Verb {
	case FLUSH, INFO, END:
		if c.Args != nil {
			err = commandError(line, len(c.Verb), "the end of the line: "+c.Verb+" takes no arguments")
		}
	case HELLO, PUSH, ACK, FAIL, BEAT:
		err = checkObject(line, c)
	case FETCH:
		err = checkQueues(line)
	default:
		err = verbError(line, c.Verb)
	}
	if err != nil {
		return Command{}, err
	}
	return c, nil
}

func commandError(line []byte, offset int, expected string) *CommandError {
	return &CommandError{Offset: offset, Expected: expected, Got: excerpt(line[offset:], "the end of the line")}
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// verbError returns the most helpful error for an unknown verb.
func verbError(line []byte, verb string) *CommandError {
	if verb == "" {
		return commandError(line, 0, "a verb")
	}
	if upper := strings.ToUpper(verb); isVerb(upper) {
		return commandError(line, 0, upper+" in upper case")
	}
	name := verb
	if end := strings.IndexFunc(verb, func(r rune) bool { return r < 'A' || r > 'Z' }); end > 0 {
		name = verb[:end]
	}
	if isVerb(name) {
		return commandError(line, len(name), "one space or the end of the line after "+name)
	}
	return commandError(line, 0, "one of the verbs HELLO, FLUSH, INFO, END, PUSH, FETCH, ACK, FAIL, BEAT")
}

func checkQueues(line []byte) *CommandError {
	for i, c := range line {
		switch c {
		case '\t', '\v', '\f':
			return commandError(line, i, "a queue name without white space")
		case ' ':
			if i+1 == len(line) || line[i+1] == ' ' {
				return commandError(line, i+1, "a queue name after one space")
			}
		}
	}
	return nil
}

func checkObject(line []byte, c Command) *CommandError {
	start := len(c.Verb) + 1
	switch {
	case c.Args == nil:
		return commandError(line, len(c.Verb), "one space and a JSON object")
	case len(c.Args) == 0 || c.Args[0] != '{':
		return commandError(line, start, "a JSON object after one space")
	case c.Args[len(c.Args)-1] == '}' && json.Valid(c.Args):
		return nil
	}
	return jsonError(line, start)
}

// jsonError returns the error of an object that is broken, or followed by something.
func jsonError(line []byte, start int) *CommandError {
	d := json.NewDecoder(bytes.NewReader(line[start:]))
	var object json.RawMessage
	err := d.Decode(&object)
	if err == nil {
		return commandError(line, start+int(d.InputOffset()), "the end of the line after the JSON object")
	}
	var broken *json.SyntaxError
	if errors.As(err, &broken) && broken.Offset > 0 {
		offset := min(start+int(broken.Offset)-1, len(line))
		return commandError(line, offset, "valid JSON ("+broken.Error()+")")
	}
	return commandError(line, len(line), "the rest of the JSON object")
}
