package fakes

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// kind is what the value of a field must be.
type kind uint8

const (
	text kind = iota
	integer
	array
	texts
	moment
	hash
)

// kinds are how a value of a kind is recognized, and what an error calls it.
var kinds = [...]struct {
	fits func(json.RawMessage) bool
	name string
}{
	text:    {isString, "a string"},
	integer: {func(raw json.RawMessage) bool { _, ok := asInteger(raw); return ok }, "an integer"},
	array:   {func(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }, "an array"},
	texts:   {func(raw json.RawMessage) bool { _, ok := asStrings(raw); return ok }, "an array of strings"},
	moment:  {func(raw json.RawMessage) bool { _, ok := asTime(raw); return ok }, "an RFC 3339 time"},
	hash:    {func(raw json.RawMessage) bool { return raw[0] == '{' }, "an object"},
}

// Which fields must be of their kind: all, those that are there, those that are not null, and a time that is not empty.
func isAny(json.RawMessage) bool          { return true }
func isPresent(raw json.RawMessage) bool  { return raw != nil }
func isNonNull(raw json.RawMessage) bool  { return raw != nil && !isNull(raw) }
func isNonEmpty(raw json.RawMessage) bool { return isNonNull(raw) && string(raw) != `""` }

// check refuses the first of some fields that must be of a kind and is not.
func check(o *Object, isRequired func(json.RawMessage) bool, k kind, fields ...string) *Refusal {
	for _, field := range fields {
		if raw := o.Get(field); isRequired(raw) && !kinds[k].fits(raw) {
			return refuse(About(field), "%s must be %s", field, kinds[k].name)
		}
	}
	return nil
}

// checkJob checks a work unit by the field tables. (Work units)
func checkJob(doc *Object, cfg *Config) *Refusal {
	return cmp.Or(check(doc, isAny, text, "jid", "jobtype"), check(doc, isAny, array, "args"), checkJID(doc, cfg),
		check(doc, isNonNull, text, "queue"), checkQueue(doc, cfg),
		check(doc, isNonNull, integer, "retry", "backtrace", "reserve_for"), checkReserve(doc, cfg),
		check(doc, isNonEmpty, moment, "at"), check(doc, isNonNull, moment, "created_at"),
		check(doc, isNonNull, hash, "custom"))
}

func checkJID(doc *Object, cfg *Config) *Refusal {
	jid := len(doc.Text("jid"))
	if jid < cfg.MinJID || cfg.MaxJID > 0 && jid > cfg.MaxJID {
		return refuse(AboutLimit, "jid is too long or too short")
	}
	return nil
}

func checkQueue(doc *Object, cfg *Config) *Refusal {
	if doc.NonNull("queue") == nil {
		return nil
	}
	return checkQueueName(doc.Text("queue"), cfg)
}

func checkReserve(doc *Object, cfg *Config) *Refusal {
	if n, ok := doc.Int("reserve_for"); ok && n < seconds(cfg.MinReserve) {
		return refuse("reserve_for", "reserve_for must be at least %d", seconds(cfg.MinReserve))
	}
	return nil
}

// checkQueueName refuses a name that a FETCH cannot contain.
func checkQueueName(queue string, cfg *Config) *Refusal {
	isForbidden := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if queue == "" || strings.ContainsFunc(queue, isForbidden) {
		return refuse("queue", "a queue name must not be empty nor hold white space or control characters")
	}
	if cfg.MaxQueueName > 0 && len(queue) > cfg.MaxQueueName {
		return refuse(AboutLimit, "the queue name is too long")
	}
	return nil
}
