package emqp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Header is one header: a name, and the value after its colon.
type Header struct {
	Name  string
	Value string // empty if there is no colon
}

// Headers are the headers of one message, in their order. (Headers)
type Headers []Header

// The headers of the specification. (Headers)
const (
	ReplyRequested = "reply-requested" // of REQUEST
	RetryCount     = "retry-count"     // of REQUEST, with a number
	Timeout        = "timeout"         // of REQUEST, with a number of seconds
	Guarantee      = "guarantee"       // of REQUEST
	NoHaste        = "nohaste"         // of SCHEDULE
)

// headerSpecs is what the table says of a header: the command that has it, and whether it has a number.
var headerSpecs = map[string]struct {
	command string
	number  bool
}{
	ReplyRequested: {REQUEST, false},
	RetryCount:     {REQUEST, true},
	Timeout:        {REQUEST, true},
	Guarantee:      {REQUEST, false},
	NoHaste:        {SCHEDULE, false},
}

// ParseHeaders parses the headers frame: values separated by commas. An empty frame has none. (Headers)
//
// The table of REQUEST calls the frame a dictionary, which "can be an empty set". ParseHeaders accepts that reading,
// too: a JSON object whose members are the headers. They are returned sorted by name.
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

// String returns the text of the headers frame.
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

// Get returns the value of the first header of that name. ok is false if there is none.
func (h Headers) Get(name string) (value string, ok bool) {
	i := slices.IndexFunc(h, func(header Header) bool { return header.Name == name })
	if i < 0 {
		return "", false
	}
	return h[i].Value, true
}

// Has reports whether a header without a number is set: it is there, and its value is not False.
func (h Headers) Has(name string) bool {
	value, ok := h.Get(name)
	return ok && !strings.EqualFold(value, "false")
}

// Check returns an error if a header of the specification does not belong to the command, or has a wrong value. It
// accepts headers that the specification does not have. (Headers)
func (h Headers) Check(command string) error {
	for _, header := range h {
		d, ok := headerSpecs[header.Name]
		if !ok {
			continue
		}
		if d.command != command {
			return fmt.Errorf("headers of %s, which %s is not", command, header.Name)
		}
		if _, err := strconv.ParseUint(header.Value, 10, 63); d.number && err != nil {
			return fmt.Errorf("%s: and a number", header.Name)
		}
		if !d.number && !isBool(header.Value) {
			return fmt.Errorf("%s without a value, or True or False", header.Name)
		}
	}
	return nil
}

func isBool(value string) bool {
	return value == "" || strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
}
