package main

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"
)

// fits compares a reply with a pattern: "+OK", "-" for any error, "nil" for the null bulk string,
// "bulk" for any other, "*" for any job, a name for the job of that name, and a hash for a job or
// state that has at least these fields. A name or "*" may be followed by a hash. "raw:TEXT" is any
// reply with TEXT in it.
func (r *rig) fits(got, want string) bool {
	switch want {
	case "+OK":
		return got == "+OK\r\n"
	case "-":
		return got[0] == '-'
	case "nil":
		return got == "$-1\r\n"
	case "bulk":
		return got[0] == '$' && got != "$-1\r\n"
	case "none", "eof":
		return false
	}
	if part, ok := strings.CutPrefix(want, "raw:"); ok {
		return strings.Contains(got, part)
	}
	name, fields, _ := strings.Cut(want, " ")
	if strings.HasPrefix(want, "{") {
		name, fields = "", want
	}
	text, ok := payload(got)
	if !ok || !utf8.ValidString(text) {
		return false
	}
	var have map[string]any
	if !decode(text, &have) {
		return false
	}
	if name != "" && name != "*" && have["jid"] != jid(name) {
		return false
	}
	var expected any
	return fields == "" || decode(fields, &expected) && r.same(have, expected)
}

// payload is the JSON of a job, or of a state that may also come as a simple string.
func payload(got string) (string, bool) {
	switch got[0] {
	case '$':
		_, text, _ := strings.Cut(got, "\r\n")
		return strings.TrimSuffix(text, "\r\n"), text != ""
	case '+':
		return strings.TrimSuffix(got[1:], "\r\n"), true
	}
	return "", false
}

func decode(text string, into any) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into) == nil && !dec.More()
}

// same compares by value. A hash needs only the wanted fields, and null means absent.
func (r *rig) same(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		return r.sameHash(have, want)
	case []any:
		list, ok := have.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !r.same(list[i], want[i]) {
				return false
			}
		}
		return true
	case json.Number:
		number, ok := have.(json.Number)
		return ok && sameNumber(string(number), string(want))
	case string:
		return r.sameText(have, want)
	}
	return have == want
}

func (r *rig) sameHash(have any, want map[string]any) bool {
	fields, ok := have.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range want {
		if !r.same(fields[name], value) {
			return false
		}
	}
	return true
}

func sameNumber(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// sameText also knows "@-60s" for a time so long ago, and "~a&!~b" for any value whose JSON holds a
// and does not hold b.
func (r *rig) sameText(have any, want string) bool {
	if after, ok := strings.CutPrefix(want, "@"); ok {
		text, _ := have.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		ago, _ := time.ParseDuration(after)
		return err == nil && r.now().Add(ago).Sub(at).Abs() < 15*time.Second
	}
	if !strings.HasPrefix(want, "~") && !strings.HasPrefix(want, "!~") {
		return have == want
	}
	text := ""
	if have != nil {
		text = encode(have)
	}
	for part := range strings.SplitSeq(want, "&") {
		word, forbidden := strings.CutPrefix(part, "!")
		if strings.Contains(text, strings.TrimPrefix(word, "~")) == forbidden {
			return false
		}
	}
	return true
}
