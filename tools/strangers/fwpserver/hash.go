package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

type rawJSON = json.RawMessage

// A hash is the JSON dictionary that follows a verb. Values stay as the client wrote them, so that
// numbers of any size and escapes of any kind go through unchanged.
type hash map[string]rawJSON

var errNotHash = fmt.Errorf("argument must be one JSON hash")

// errSyntax is wrapped by the faults of text that is no JSON at all.
var errSyntax = fmt.Errorf("broken JSON")

// parseHash is strict: nothing may stand before or after the hash, not even a space.
func parseHash(arg string) (hash, error) {
	if arg == "" || arg[0] != '{' {
		return nil, errNotHash
	}
	var fields hash
	if err := json.Unmarshal([]byte(arg), &fields); err != nil {
		return nil, fmt.Errorf("%w: %.80q", errSyntax, err.Error())
	}
	if arg[len(arg)-1] != '}' {
		return nil, errNotHash
	}
	return fields, nil
}

// get treats null like a field that is not there.
func (h hash) get(name string) (rawJSON, bool) {
	raw, ok := h[name]
	return raw, ok && string(raw) != "null"
}

func (h hash) text(name string) (value string, present bool, err error) {
	raw, ok := h.get(name)
	if !ok {
		return "", false, nil
	}
	if raw[0] != '"' {
		return "", true, fmt.Errorf("%s must be a string", name)
	}
	return value, true, json.Unmarshal(raw, &value)
}

var integerText = regexp.MustCompile(`^-?[0-9]+$`)

func (h hash) integer(name string) (value int64, present bool, err error) {
	raw, ok := h.get(name)
	if !ok {
		return 0, false, nil
	}
	if !integerText.Match(raw) {
		return 0, true, fmt.Errorf("%s must be an integer", name)
	}
	if value, err = strconv.ParseInt(string(raw), 10, 64); err != nil {
		return 0, true, fmt.Errorf("%s is out of range", name)
	}
	return value, true, nil
}

func (h hash) texts(name string) (values []string, present bool, err error) {
	raw, ok := h.get(name)
	if !ok {
		return nil, false, nil
	}
	var items []rawJSON
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		return nil, true, fmt.Errorf("%s must be an array of strings", name)
	}
	for _, item := range items {
		var value string
		if item[0] != '"' || json.Unmarshal(item, &value) != nil {
			return nil, true, fmt.Errorf("%s must be an array of strings", name)
		}
		values = append(values, value)
	}
	return values, true, nil
}
