package fwp

import (
	"bytes"
	"slices"
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
