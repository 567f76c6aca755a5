package fakes

import (
	"strconv"
	"strings"
	"unicode"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// checkJob checks a work unit by the field tables. (Work units)
func checkJob(doc *Object, cfg *Config) *Refusal {
	if r := checkRequired(doc, cfg); r != nil {
		return r
	}
	if r := checkQueue(doc, cfg); r != nil {
		return r
	}
	return checkOptional(doc, cfg)
}

func checkRequired(doc *Object, cfg *Config) *Refusal {
	for _, field := range [...]string{"jid", "jobtype"} {
		if r := wantText(doc, field); r != nil {
			return r
		}
	}
	if args := doc.Get("args"); len(args) == 0 || args[0] != '[' {
		return refuse("args", "args must be an array")
	}
	if cfg.MinJID <= 0 && cfg.MaxJID <= 0 {
		return nil
	}
	jid := doc.Text("jid")
	if len(jid) < cfg.MinJID || (cfg.MaxJID > 0 && len(jid) > cfg.MaxJID) {
		return refuse(AboutLimit, "jid is too long or too short")
	}
	return nil
}

func checkQueue(doc *Object, cfg *Config) *Refusal {
	if given(doc, "queue") == nil {
		return nil
	}
	if r := wantText(doc, "queue"); r != nil {
		return r
	}
	return checkQueueName(doc.Text("queue"), cfg)
}

// checkQueueName refuses a name that a FETCH cannot contain.
func checkQueueName(queue string, cfg *Config) *Refusal {
	wrong := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if queue == "" || strings.ContainsFunc(queue, wrong) {
		return refuse("queue", "a queue name must not be empty nor hold white space or control characters")
	}
	if cfg.MaxQueueName > 0 && len(queue) > cfg.MaxQueueName {
		return refuse(AboutLimit, "the queue name is too long")
	}
	return nil
}

func checkOptional(doc *Object, cfg *Config) *Refusal {
	for _, field := range [...]string{"retry", "backtrace", "reserve_for"} {
		if r := wantInteger(doc, field, false); r != nil {
			return r
		}
	}
	if n, ok := doc.Int("reserve_for"); ok && n < seconds(cfg.MinReserve) {
		return refuse("reserve_for", "reserve_for must be at least %d", seconds(cfg.MinReserve))
	}
	for _, field := range [...]string{"at", "created_at"} {
		raw := given(doc, field)
		if raw == nil || (field == "at" && string(raw) == `""`) {
			continue
		}
		if _, ok := asTime(raw); !ok {
			return refuse(About(field), "%s must be an RFC 3339 time", field)
		}
	}
	if raw := given(doc, "custom"); raw != nil && raw[0] != '{' {
		return refuse("custom", "custom must be an object")
	}
	return nil
}

// given returns the value of an optional field, nil if it is absent or null.
func given(doc *Object, field string) []byte {
	if raw := doc.Get(field); raw != nil && !isNull(raw) {
		return raw
	}
	return nil
}

func wantText(doc *Object, field string) *Refusal {
	if !isString(doc.Get(field)) {
		return refuse(About(field), "%s must be a string", field)
	}
	return nil
}

func wantInteger(doc *Object, field string, required bool) *Refusal {
	raw := given(doc, field)
	if raw == nil && !required {
		return nil
	}
	if _, ok := asInteger(raw); !ok {
		return refuse(About(field), "%s must be an integer", field)
	}
	return nil
}
