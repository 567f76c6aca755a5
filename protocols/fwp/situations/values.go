package situations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// decoded returns JSON that this program has written as a value.
func decoded(text string) any {
	v, err := number.Decode([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// shortJSON returns a value as JSON, of which only the beginning is left if it is long.
func shortJSON(v any) string {
	const most = 120
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// sameField reports whether a field was pushed as it was given. A null counts as omitted, and times are compared as
// instants, to the millisecond. A library may add members to custom, which is for the context of a job: the id of a
// trace, a language.
func sameField(name string, given, got any) bool {
	if members, is := got.(map[string]any); is && name == "custom" {
		return hasMembers(members, given)
	}
	if given == nil {
		return got == nil
	}
	if name == "at" || name == "created_at" {
		a, is := given.(string)
		b, also := got.(string)
		return is && also && sameInstant(a, b)
	}
	return sameValue(given, got)
}

// hasMembers reports whether an object has all members of a value, which is an object or nil.
func hasMembers(object map[string]any, of any) bool {
	given, is := of.(map[string]any)
	for name, value := range given {
		got, has := object[name]
		if !has || !sameValue(value, got) {
			return false
		}
	}
	return is || of == nil
}

func sameInstant(a, b string) bool {
	x, err := number.ParseTime(a)
	y, failed := number.ParseTime(b)
	return err == nil && failed == nil && x.Sub(y).Abs() < time.Millisecond
}

// sameValue compares two values of JSON; numbers by their values.
func sameValue(a, b any) bool { return number.EqualValues(a, b, number.Equal) }

// arrayIn returns the first JSON array in a text, which may have other words around it.
func arrayIn(text string) (array any, has bool) {
	for rest := text; ; {
		_, behind, found := strings.Cut(rest, "[")
		if !found {
			return nil, false
		}
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader("["+behind)).Decode(&raw) == nil {
			v, err := number.Decode(bytes.TrimSpace(raw))
			return v, err == nil
		}
		rest = behind
	}
}
