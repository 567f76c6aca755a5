package emqp

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Queue is a queue of a worker with its weight. (eMQP / Worker)
type Queue struct {
	Weight int
	Name   string
}

// errQueues is what a frame of queues that cannot be parsed should have been.
var errQueues = errors.New(`arrays of a weight and a name, such as [40, "email"], with commas in between`)

// ParseQueues parses the queues in a worker's INFORM: arrays of an integer and a string, separated by commas. Strings
// may have single quotes, as in the specification's example, or double quotes, as in JSON. An array around all arrays
// is accepted, since "csv separated arrays" can mean both. (eMQP / Worker)
func ParseQueues(text string) ([]Queue, error) {
	s := &scanner{rest: strings.TrimSpace(text)}
	isNested := strings.HasPrefix(strings.ReplaceAll(s.rest, " ", ""), "[[")
	if s.rest == "" || s.rest == "[]" {
		return nil, nil
	}
	if isNested {
		s.take("[")
	}
	var all []Queue
	for hasNext := true; hasNext && !s.hasFailed; hasNext = s.try(",") {
		all = append(all, s.queue())
	}
	if isNested {
		s.take("]")
	}
	if s.hasFailed || s.rest != "" {
		return nil, errQueues
	}
	return all, nil
}

// FormatQueues returns queues as one JSON array of arrays, such as [[10,"email"]]. EventMQ reads this form.
func FormatQueues(queues ...Queue) string {
	texts := make([]string, len(queues))
	for i, q := range queues {
		name, _ := json.Marshal(q.Name) // a string always marshals
		texts[i] = "[" + strconv.Itoa(q.Weight) + "," + string(name) + "]"
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// scanner reads queues from left to right.
type scanner struct {
	rest      string
	hasFailed bool
}

// try takes a sign, with the blanks around it, if it is next.
func (s *scanner) try(sign string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s.rest, " "), sign)
	if ok {
		s.rest = strings.TrimLeft(rest, " ")
	}
	return ok
}

func (s *scanner) take(sign string) { s.hasFailed = s.hasFailed || !s.try(sign) }

// queue takes one array.
func (s *scanner) queue() (q Queue) {
	s.take("[")
	n := len(s.rest) - len(strings.TrimLeft(s.rest, "-0123456789"))
	weight, err := strconv.Atoi(s.rest[:n])
	s.hasFailed = s.hasFailed || err != nil
	q.Weight, s.rest = weight, s.rest[n:]
	s.take(",")
	q.Name = s.name()
	s.take("]")
	return q
}

// name takes a string in single quotes, in which no quote and no backslash can stand, or one of JSON.
func (s *scanner) name() string {
	if s.try("'") {
		name, rest, ok := strings.Cut(s.rest, "'")
		s.hasFailed = s.hasFailed || !ok || strings.Contains(name, `\`)
		s.rest = rest
		return name
	}
	d := json.NewDecoder(strings.NewReader(s.rest))
	var name string
	if s.hasFailed || !strings.HasPrefix(s.rest, `"`) || d.Decode(&name) != nil {
		s.hasFailed = true
		return ""
	}
	s.rest = s.rest[d.InputOffset():]
	return name
}
