package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// field is one member of a command's JSON hash.
type field struct {
	key   string
	value any
}

// object writes a JSON hash in one line, with its members in the order given.
func object(fields ...field) string {
	separator, colon := ",", ":"
	if variant == 3 {
		separator, colon = ", ", ": "
		fields = slices.Clone(fields)
		slices.Reverse(fields)
	}
	members := make([]string, len(fields))
	for i, f := range fields {
		members[i] = jsonText(f.key) + colon + jsonText(f.value)
	}
	return "{" + strings.Join(members, separator) + "}"
}

// jsonText is the JSON of a value that can always be written: strings, numbers and lists of strings.
func jsonText(value any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
