package situations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// decodeJSON returns JSON that this program has written as a value.
func decodeJSON(text string) any {
	v, err := number.Decode([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// shortJSON returns a value as JSON, of which only the beginning is left if it is long.
func shortJSON(v any) string {
	const limit = 120
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > limit {
		return string(text[:limit]) + "..."
	}
	return string(text)
}

// sameField reports whether a field was pushed as it was given. A null counts as omitted, and times are compared as
// instants, to the millisecond. A library may add members to custom, which is for the context of a job: the id of a
// trace, a language.
func sameField(name string, want, got any) bool {
	if members, ok := got.(map[string]any); ok && name == "custom" {
		return hasMembers(members, want)
	}
	if want == nil {
		return got == nil
	}
	if name == "at" || name == "created_at" {
		a, ok := want.(string)
		b, isText := got.(string)
		return ok && isText && sameInstant(a, b)
	}
	return sameValue(want, got)
}

// hasMembers reports whether an object has all members of a value, which is an object or nil.
func hasMembers(object map[string]any, members any) bool {
	fields, ok := members.(map[string]any)
	for name, value := range fields {
		got, has := object[name]
		if !has || !sameValue(value, got) {
			return false
		}
	}
	return ok || members == nil
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
