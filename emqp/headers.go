package emqp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Header is one header: a name, and what stands behind its colon.
type Header struct {
	Name  string
	Value string // empty if there is no colon
}

// Headers are those of one message, in their order. (Headers)
type Headers []Header

// The headers that the document describes. (Headers)
const (
	ReplyRequested = "reply-requested" // of REQUEST
	RetryCount     = "retry-count"     // of REQUEST, with a number
	Timeout        = "timeout"         // of REQUEST, with a number of seconds
	Guarantee      = "guarantee"       // of REQUEST
	NoHaste        = "nohaste"         // of SCHEDULE
)

// described is what the table says of a header: the command that has it, and whether it has a number.
var described = map[string]struct {
	command string
	number  bool
}{
	ReplyRequested: {REQUEST, false},
	RetryCount:     {REQUEST, true},
	Timeout:        {REQUEST, true},
	Guarantee:      {REQUEST, false},
	NoHaste:        {SCHEDULE, false},
}

// ParseHeaders parses the frame of headers: none in an empty one, else values with commas in between. (Headers)
//
// The table of REQUEST calls them a dictionary, which "can be an empty set", and that is the other reading: a JSON
// object whose members are the headers.
func ParseHeaders(text string) (Headers, error) {
	if strings.HasPrefix(text, "{") {
		return parseDictionary(text)
	}
	if text == "" {
		return nil, nil
	}
	var all Headers
	for value := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(value), ":")
		if name == "" {
			return nil, errors.New("headers with commas in between")
		}
		all = append(all, Header{name, number})
	}
	return all, nil
}

func parseDictionary(text string) (Headers, error) {
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, errors.New("a dictionary of headers")
	}
	var all Headers
	for name, v := range members {
		all = append(all, Header{name, fmt.Sprint(v)})
	}
	slices.SortFunc(all, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// String returns the headers as a message has them.
func (h Headers) String() string {
	texts := make([]string, len(h))
	for i, header := range h {
		texts[i] = header.Name
		if header.Value != "" {
			texts[i] += ":" + header.Value
		}
	}
	return strings.Join(texts, ",")
}

// Get returns the value of a header, and whether it is there.
func (h Headers) Get(name string) (value string, ok bool) {
	i := slices.IndexFunc(h, func(header Header) bool { return header.Name == name })
	if i < 0 {
		return "", false
	}
	return h[i].Value, true
}

// Has reports whether a header without a number is set.
func (h Headers) Has(name string) bool {
	value, ok := h.Get(name)
	return ok && !strings.EqualFold(value, "false")
}

// Check returns an error if a header that the document describes cannot stand in a command, or its value is not what
// the table asks for. Of other headers the document says nothing. (Headers)
func (h Headers) Check(command string) error {
	for _, header := range h {
		d, known := described[header.Name]
		if !known {
			continue
		}
		if d.command != command {
			return fmt.Errorf("headers of %s, which %s is not", command, header.Name)
		}
		if _, err := strconv.ParseUint(header.Value, 10, 63); d.number && err != nil {
			return fmt.Errorf("%s: and a number", header.Name)
		}
		if !d.number && !truth(header.Value) {
			return fmt.Errorf("%s without a value, or True or False", header.Name)
		}
	}
	return nil
}

func truth(value string) bool {
	return value == "" || strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
}
