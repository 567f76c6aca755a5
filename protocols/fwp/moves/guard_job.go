package moves

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// isForeignJob reports whether the argument of a PUSH could become a job in a queue without
// the run's prefix, which the queue default is for a job that names none. It reads the
// argument more leniently than any JSON parser, and when in doubt takes it for a job.
func (l *fwpLaw) isForeignJob(argument []byte) bool {
	begin := bytes.IndexByte(argument, '{')
	if begin < 0 {
		return false
	}
	fields, isClosed := topFields(argument[begin:])
	if !isClosed {
		return false // no server takes half an object
	}
	queues, isJob := 0, len(bytes.TrimSpace(argument[:begin])) > 0 // jobs in an array, say
	for _, f := range fields {
		switch name := strings.ToLower(f.name); {
		case name == "queue" && (f.name != "queue" || !strings.HasPrefix(f.value, l.NamePrefix)):
			return true
		case name == "queue":
			queues++
		case name == "jid", name == "jobtype", name == "args":
			isJob = true
		}
	}
	return isJob && queues == 0
}

// hasForeignJob reports the same of each of the jobs of a PUSHB.
func (l *fwpLaw) hasForeignJob(argument []byte) bool {
	begin := bytes.IndexAny(argument, "[{")
	if begin < 0 || argument[begin] == '{' {
		return false
	}
	depth := 0
	for i := begin; i < len(argument); i++ {
		switch argument[i] {
		case '"':
			_, i = stringAt(argument, i)
		case '[', '{':
			if depth == 1 && l.isForeignJob(argument[i:]) {
				return true
			}
			depth++
		case ']', '}':
			depth--
		}
	}
	return false
}

// hasForeignQueue reports whether the arguments of a QUEUE name queues without the run's prefix. The key of a job is no
// QUEUE.
func (l *fwpLaw) hasForeignQueue(argument []byte) bool {
	words := bytes.Fields(argument)
	return len(words) > 1 && !l.ownsQueues(words[1:]) &&
		slices.ContainsFunc([]string{"PAUSE", "RESUME", "REMOVE", "LATENCY"}, func(order string) bool {
			return afterVerb(words[0], order) > 0
		})
}

// hasForeignFilter reports whether the argument of a MUTATE could reach jobs without the run's prefix: whether it is an
// object, and something that its filter selects by has no such name in it.
func (l *fwpLaw) hasForeignFilter(argument []byte) bool {
	if bytes.IndexByte(argument, '{') < 0 {
		return false
	}
	var m struct {
		Filter struct {
			JIDs            []string
			Jobtype, Regexp string
		}
	}
	if json.Unmarshal(argument, &m) != nil {
		return true
	}
	words := slices.Concat(m.Filter.JIDs, []string{m.Filter.Jobtype, m.Filter.Regexp})
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	return len(words) == 0 || slices.ContainsFunc(words,
		func(word string) bool { return !strings.Contains(word, l.NamePrefix) })
}

// topFields reads the fields of the object that a text begins with, as far as they look
// like fields: a string that a colon follows, not within braces or brackets. Values that
// are no strings are empty. isClosed reports whether the object ends.
func topFields(text []byte) (fields []member, isClosed bool) {
	depth, name, isName := 0, "", false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return fields, true
			}
		case '"':
			s, end := stringAt(text, i)
			i = end
			switch after := bytes.TrimLeft(text[min(end+1, len(text)):], " \t\r\n"); {
			case depth != 1:
			case len(after) > 0 && after[0] == ':':
				fields = append(fields, member{name: s})
				name, isName = s, true
			case isName:
				fields[len(fields)-1] = member{name: name, value: s}
				isName = false
			}
		case ',':
			isName = isName && depth > 1
		}
	}
	return fields, false
}

// stringAt returns the string that begins at a place, and the place of its closing quote.
func stringAt(text []byte, begin int) (s string, end int) {
	for end = begin + 1; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	end = min(end, len(text))
	raw := text[begin:min(end+1, len(text))]
	if json.Unmarshal(raw, &s) != nil {
		s = string(bytes.Trim(raw, `"`))
	}
	return s, end
}
