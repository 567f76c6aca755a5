// Package transcript is the notation of a conversation: what reports print, and tests read. See [Parse] for it.
package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Kind is what happens.
type Kind uint8

// The kinds. The bytes of an end are close, fin or reset.
const (
	Other     Kind = iota // the bytes are words that say what
	Client                // the client sends the bytes
	Server                // the server does
	ClientEnd             // the client ends the connection
	ServerEnd             // the server does
	toEnd     = ClientEnd - Client
)

// Event is one thing that happens.
type Event struct {
	At    time.Duration // since the beginning
	Conn  string        // empty: the only connection, or none
	Kind  Kind
	Bytes []byte

	IsMarked bool // it is the place of a finding
}

// String returns the event as reports print it.
func (e Event) String() string {
	words := []string{fmt.Sprintf("%.3f s", e.At.Seconds())}
	if e.IsMarked {
		words = slices.Insert(words, 0, ">")
	}
	if e.Conn != "" {
		words = append(words, e.Conn)
	}
	switch e.Kind {
	case Client, ClientEnd:
		words = append(words, "C:")
	case Server, ServerEnd:
		words = append(words, "S:")
	}
	line, ended := bytes.CutSuffix(e.Bytes, []byte("\r\n"))
	output := text.Escape(string(line))
	switch {
	case e.Kind == ClientEnd, e.Kind == ServerEnd:
		output = "<" + output + ">"
	case e.Kind != Other && (!ended || output != strings.TrimSpace(output) || strings.HasPrefix(output, `"`)):
		output = `"` + text.Escape(string(e.Bytes)) + `"`
	}
	return strings.Join(append(words, output), " ")
}

// Text returns a conversation as reports print it, an event a line.
func Text(events []Event) string {
	var all strings.Builder
	for _, e := range events {
		all.WriteString(e.String() + "\n")
	}
	return all.String()
}

// The forms of a line; each may have a time before it.
var (
	comment = regexp.MustCompile(`^(#.*|\^\^.*|(\S+\s+)?--\s.*)?$`)
	pause   = regexp.MustCompile(`^\+(.+)$`)
	moment  = regexp.MustCompile(`^(>\s*)?(?:(\d+\.?\d*) s(?:\s+|$))?`)
	speech  = regexp.MustCompile(`^(?:(\S+)\s+)?([CS]):\s*((?s).*)$`)
	other   = regexp.MustCompile(`^(?:([A-Za-z]|\d+)\s+)?(.+)$`)
	quotes  = regexp.MustCompile(`\\.|"`)
	end     = regexp.MustCompile(`^(?:<(close|fin|reset)>|the connection was (closed|reset)\b.*)$`)
)

// Parse reads a conversation.
//
//	0.105 s  a  C:  FETCH q      the client sends a line on connection a
//	2.105 s  a  S:  $-1          the server sends one
//	> a S: -ERR no               the place of a finding
//	a C: "INFO\n"                what is in quotes has no CRLF but its own
//	+2s                          time passes
//	a C: <close>                 the client closes the connection; <fin>: its own side only; <reset>
//	a open                       something else; a first word of one letter, or a number, is the connection
//	restart                      something that is not about one connection
//
// The time, the connection and further blanks may be missing: an event without a time is at that of the one before it.
// Bytes have the escapes of a Go string, except that a quotation mark needs none. Lines that are empty or begin with #
// are left out, and so is what reports add: remarks (--), and what was expected at the place of a finding (^^).
func Parse(conversation string) (events []Event, err error) {
	var now time.Duration
	for n, line := range strings.Split(conversation, "\n") {
		e := Event{At: now}
		isEvent, err := e.parse(strings.TrimLeft(line, " \t"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w: %s", n+1, err, line)
		}
		if now = e.At; isEvent {
			events = append(events, e)
		}
	}
	return events, nil
}

// ParseAll reads conversations by their names, each behind a line "== NAME". What is before the first is left out.
func ParseAll(conversations string) (map[string][]Event, error) {
	all := map[string][]Event{}
	for _, part := range strings.Split("\n"+conversations, "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		events, err := Parse(rest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[name] = events
	}
	return all, nil
}

// parse reads a line, and reports whether something but time is in it.
func (e *Event) parse(line string) (isEvent bool, err error) {
	if p := pause.FindStringSubmatch(line); p != nil {
		d, err := time.ParseDuration(p[1])
		e.At += d
		return false, err
	}
	at := moment.FindStringSubmatch(line)
	e.IsMarked = at[1] != ""
	if line = line[len(at[0]):]; at[2] != "" {
		seconds, _ := strconv.ParseFloat(at[2], 64) // it is a number
		e.At = time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
	}
	if comment.MatchString(line) {
		return false, nil
	}
	if s := speech.FindStringSubmatch(line); s != nil {
		e.Conn, e.Kind = s[1], map[string]Kind{"C": Client, "S": Server}[s[2]]
		return true, e.speech(s[3])
	}
	o := other.FindStringSubmatch(line)
	e.Conn, e.Bytes = o[1], []byte(o[2])
	return true, nil
}

// speech reads what a side sends, or that it ends.
func (e *Event) speech(content string) error {
	if text.Cut.MatchString(content) {
		return errors.New("its middle is left out")
	}
	if s := end.FindStringSubmatch(content); s != nil {
		e.Kind += toEnd
		e.Bytes = []byte(cmp.Or(s[1], map[string]string{"closed": "fin", "reset": "reset"}[s[2]]))
		return nil
	}
	tail := "\r\n"
	if len(content) > 1 && content[0] == '"' && content[len(content)-1] == '"' {
		content, tail = content[1:len(content)-1], ""
	}
	if !utf8.ValidString(content) {
		return errors.New("bytes that are no UTF-8 have an escape, such as \\xff")
	}
	plain, err := strconv.Unquote(`"` + quotes.ReplaceAllStringFunc(content, func(s string) string {
		if s == `"` {
			return `\"`
		}
		return s
	}) + `"`)
	if err != nil {
		return errors.New("it has an escape that Go does not have")
	}
	e.Bytes = []byte(plain + tail)
	return nil
}
