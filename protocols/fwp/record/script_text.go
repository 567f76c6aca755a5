package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/scenarios"
)

// family is a kind of values that are different in each play.
type family string

const (
	famJID   family = "jid"
	famWid   family = "wid"
	famQueue family = "queue"
)

// names has the name of each such value: $jid, $jid2 ...
type names struct {
	byValue map[value]string
	count   map[family]int
	hosts   map[string]string
	size    int // of all values, in bytes
}

type value struct {
	family family
	text   string
}

func newNames() *names {
	return &names{byValue: map[value]string{}, count: map[family]int{}, hosts: map[string]string{}}
}

func (n *names) has(f family, text string) bool { return n.byValue[value{f, text}] != "" }

// defaultQueue stands for the queue default until it is known whether it can have another name.
const defaultQueue = "\x01default\x01"

// nameOf returns the name of a value.
func (n *names) nameOf(f family, text string) string {
	if f == famQueue && text == "default" {
		return defaultQueue
	}
	name := n.byValue[value{f, text}]
	if name == "" {
		n.count[f]++
		n.size += len(text)
		if name = "$" + string(f); n.count[f] > 1 {
			name += strconv.Itoa(n.count[f])
		}
		n.byValue[value{f, text}] = name
	}
	return name
}

// fillDefaultQueue fills in what could not be known before: a queue that is used as the default keeps its name.
func (n *names) fillDefaultQueue(text string, usesDefaultQueue bool) string {
	if !strings.Contains(text, defaultQueue) {
		return text
	}
	name := "default"
	if !usesDefaultQueue {
		name = "$queue_default"
	}
	return strings.ReplaceAll(text, defaultQueue, name)
}

// host returns what stands for the name of a host.
func (n *names) host(value string) string {
	if n.hosts[value] == "" {
		n.size += len(value)
		n.hosts[value] = fmt.Sprintf("host%d", len(n.hosts)+1)
	}
	return n.hosts[value]
}

// text returns a line of a client as the script has it; false if it can only be written as bytes.
func (s *script) text(e *clientrules.Event) (text string, ok bool) {
	body, hasEnd := bytes.CutSuffix(e.Raw, []byte("\r\n"))
	if !hasEnd || len(body) == 0 || !isPlain(string(body)) {
		return "", false
	}
	verb := fwp.SplitCommand(body).Verb
	switch {
	case e.Object != nil && len(e.Mistakes) == 0:
		if verb == fwp.PUSH && e.Object["queue"] == nil {
			s.usesDefaultQueue = true
		}
		return verb + " " + s.rewriteLine(e, body[len(verb)+1:]), true
	case verb == fwp.FETCH && len(e.Mistakes) == 0:
		return s.fetch(e.Command), true
	}
	return escape(string(maskHash(body))), true
}

// isPlain reports whether a text can stand on a line.
func isPlain(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, scenarios.Cut) && !strings.HasPrefix(text, "<") &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || !unicode.IsPrint(r) })
}

func (s *script) fetch(c fwp.Command) string {
	if len(c.Args) == 0 {
		s.usesDefaultQueue = true
		return c.Verb
	}
	var text strings.Builder
	text.WriteString(c.Verb)
	for queue := range strings.SplitSeq(string(c.Args), " ") {
		text.WriteString(" " + s.names.nameOf(famQueue, queue))
	}
	return text.String()
}

// rewriteLine replaces what is secret, or different in each play, in the object of a line. All else stays as it was
// sent, byte for byte.
func (s *script) rewriteLine(e *clientrules.Event, args []byte) string {
	if e.Command.Verb != fwp.HELLO {
		return s.rewrite(args, e.Command.Verb)
	}
	return strings.Replace(s.rewrite(args, fwp.HELLO), hashPlace, s.hash(e), 1)
}

// hashPlace stands for the hash of a HELLO.
const hashPlace = "\x01hash\x01"

// hash returns the name of the hash that a client sent. One that is known not to be the password's is written as a
// wrong one, and one that the server did not ask for as a text.
func (s *script) hash(e *clientrules.Event) string {
	hi := s.conns[e.Conn].hi
	if !hi.Protected {
		return strings.Repeat("0", 64)
	}
	sent, _ := e.Object["pwdhash"].(string)
	right, err := fwp.PasswordHash(s.password, hi.Salt, hi.Iterations)
	if s.password == "" || err != nil || strings.EqualFold(sent, right) {
		return "$pwdhash"
	}
	return "$pwdhash.wrong"
}

// rewrite replaces strings of a JSON value: those of certain fields, if it is the object of a verb, and those that are
// jids anywhere. All else stays as it was sent.
func (s *script) rewrite(value []byte, verb string) string {
	var out strings.Builder
	var brackets []byte // the brackets around a place
	key, done := "", 0
	for i := 0; i < len(value); i++ {
		switch b := value[i]; b {
		case '{', '[':
			brackets = append(brackets, b)
		case '}', ']':
			brackets = brackets[:max(len(brackets)-1, 0)]
		case '"':
			start := i
			i += stringLength(value[i:]) - 1
			var text string
			if json.Unmarshal(value[start:i+1], &text) != nil {
				return out.String() + escape(string(value[done:]))
			}
			isOuter := string(brackets) == "{" && verb != ""
			if isKey := bytes.HasPrefix(bytes.TrimLeft(value[i+1:], " \t\r\n"), []byte(":")); isKey {
				if isOuter {
					key = text
				}
				continue
			}
			field := ""
			if isOuter {
				field = key
			}
			if name, ok := s.replacement(field, text); ok {
				out.WriteString(escape(string(value[done:start])) + `"` + name + `"`)
				done = i + 1
			}
		}
	}
	return out.String() + escape(string(value[done:]))
}

// stringLength returns how many bytes the JSON string has with which value begins, its quotes included.
func stringLength(value []byte) int {
	for i := 1; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(value)
}

// replacement returns what stands for the string of a field; false if the string stays.
func (s *script) replacement(key, text string) (string, bool) {
	fam := family(key)
	switch key {
	case "jid", "wid", "queue":
		if text == "" || fam == famQueue && strings.Contains(text, " ") {
			return "", false
		}
		return s.names.nameOf(fam, text), true
	case "hostname":
		return s.names.host(text), true
	case "pwdhash":
		return hashPlace, true
	case "created_at":
		_, err := number.ParseTime(text)
		return "$now", err == nil
	case "at": // as the language writes a time: $now+2s
		at, err := number.ParseTime(text)
		return fmt.Sprintf("$now%+dms", at.Sub(s.start.Add(s.lastTime)).Milliseconds()), err == nil
	}
	if s.names.has(famJID, text) {
		return s.names.nameOf(famJID, text), true
	}
	return "", false
}

// quoteJSON returns a text as a JSON string in which dollars are escaped.
func quoteJSON(text string) string {
	b, _ := json.Marshal(text) // a string cannot fail
	return escape(string(b))
}

var dollar = regexp.MustCompile(`\$([a-z$])`)

// escape doubles dollars before what would be a name.
func escape(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return dollar.ReplaceAllString(text, "$$$$$1")
}

var hexDigits = regexp.MustCompile(`[0-9a-fA-F]{32,}`)

// maskHash replaces what may be a hash in a line that could not be read.
func maskHash(line []byte) []byte {
	if !bytes.Contains(line, []byte("pwdhash")) {
		return line
	}
	return hexDigits.ReplaceAll(line, []byte("0000000000000000000000000000000000000000000000000000000000000000"))
}
