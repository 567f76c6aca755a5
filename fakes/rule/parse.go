package rule

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rule is a rule of a fake. Hook returns its hook; every server needs one of its own, since some count and remember.
type Rule[E any] struct {
	Text string
	Hook func() func(*E)
}

// ParseFile reads a file of rules: one on each line. Empty lines and those that begin with # are left out.
//
//	on checked ACK; after delivered by jid, 5s: skip
//	on ran FETCH if reply = null; each 3: reply "-ERR no job"
//	on delivered if jobtype ~ "mail"; first 2 by conn: set args "[]"
func (v *Vocabulary[E]) ParseFile(content string) (all []Rule[E], err error) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if t := strings.TrimSpace(line); t == "" || t[0] == '#' {
			continue
		}
		r, err := v.Parse(line)
		if at, ok := errors.AsType[*Error](err); ok {
			at.Line = n
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, &Error{1, 1, "there is no rule: write one on each line"}
	}
	return all, nil
}

// Parse reads a rule. The error is an [*Error].
func (v *Vocabulary[E]) Parse(rule string) (Rule[E], error) {
	tokens, err := split(rule)
	if err != nil {
		return Rule[E]{}, err
	}
	p := &parser[E]{Vocabulary: v, rest: tokens}
	hook, err := p.rule()
	return Rule[E]{Text: rule, Hook: hook}, err
}

// parser reads the tokens of a rule; the first one is next.
type parser[E any] struct {
	*Vocabulary[E]

	rest  []token
	point string // of "on"
}

func (p *parser[E]) next() token {
	t := p.rest[0]
	if t.kind != end {
		p.rest = p.rest[1:]
	}
	return t
}

// accept takes the next token if it is this word or mark.
func (p *parser[E]) accept(k kind, s string) bool {
	ok := p.rest[0].kind == k && p.rest[0].text == s
	if ok {
		p.next()
	}
	return ok
}

func fail(t token, format string, args ...any) error {
	return &Error{1, t.column, fmt.Sprintf(format, args...)}
}

// unknownWord says that a token is no word of some.
func unknownWord(t token, noun string, names []string) error {
	return fail(t, "%s is no %s; expected one of %s", t, noun, strings.Join(names, ", "))
}

// rule reads all of it: on EVENT {; CLAUSE}: ACT {, ACT}.
func (p *parser[E]) rule() (func() func(*E), error) {
	if t := p.rest[0]; !p.accept(word, "on") {
		return nil, fail(t, "expected \"on\" and a step, got %s", t)
	}
	p.point = p.rest[0].text
	match, err := p.event()
	if err != nil {
		return nil, err
	}
	var gates []func() gate[E]
	for p.accept(mark, ";") {
		g, err := p.clause()
		if err != nil {
			return nil, err
		}
		gates = append(gates, g)
	}
	if t := p.rest[0]; !p.accept(mark, ":") {
		return nil, fail(t, "expected ; and a clause, or : and an act, got %s", t)
	}
	acts, err := p.acts()
	if err != nil {
		return nil, err
	}
	return func() func(*E) { return hook(match, gates, acts) }, nil
}

// event reads POINT {VERB} [if CONDITION {and CONDITION}].
func (p *parser[E]) event() (func(*E) bool, error) {
	t := p.next()
	point, names, ok := find(p.Points, t.text, func(p Point[E]) string { return p.Name })
	if t.kind != word || !ok {
		return nil, unknownWord(t, "step", names)
	}
	var verbs []string
	for p.rest[0].kind == word && p.rest[0].text != "if" && p.rest[0].text != "by" {
		t := p.next()
		if !slices.Contains(p.Verbs, t.text) {
			return nil, unknownWord(t, "command", p.Verbs)
		}
		verbs = append(verbs, t.text)
	}
	all := []func(*E) bool{point.Match}
	if len(verbs) > 0 {
		all = append(all, func(e *E) bool { return slices.Contains(verbs, p.Verb(e)) })
	}
	for hasMore := p.accept(word, "if"); hasMore; hasMore = p.accept(word, "and") {
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return func(e *E) bool {
		return !slices.ContainsFunc(all, func(match func(*E) bool) bool { return !match(e) })
	}, nil
}

// condition reads [not] TEST, [not] FIELD, or [not] FIELD OP VALUE.
func (p *parser[E]) condition() (func(*E) bool, error) {
	inverse := p.accept(word, "not")
	t := p.next()
	if t.kind != word && t.kind != text {
		return nil, fail(t, "expected a condition, got %s", t)
	}
	op := p.rest[0]
	compares := op.kind == mark && slices.Contains([]string{"=", "!=", "~", "<", ">"}, op.text)
	test, tests, ok := find(p.Tests, t.text, func(t Test[E]) string { return t.Name })
	if ok && t.kind == word && !compares {
		return func(e *E) bool { return test.Holds(e) != inverse }, nil
	}
	_, fields, ok := find(p.Fields, t.text, func(f Field) string { return f.Name })
	if t.kind == word && !ok {
		return nil, unknownWord(t, "condition or field",
			append(append(tests, fields...), `a member of the object in quotes`))
	}
	name, fits := t.text, func(string) bool { return true }
	if compares {
		p.next()
		var err error
		if fits, err = compare(op.text, p.next()); err != nil {
			return nil, err
		}
	}
	return func(e *E) bool {
		value, ok := p.Field(e, name)
		return (ok && fits(value)) != inverse
	}, nil
}

// compare returns what a value has to fit.
func compare(op string, t token) (func(string) bool, error) {
	if t.kind != word && t.kind != text {
		return nil, fail(t, "expected a value after %s, got %s", op, t)
	}
	switch op {
	case "=":
		return func(s string) bool { return s == t.text }, nil
	case "!=":
		return func(s string) bool { return s != t.text }, nil
	case "~":
		pattern, err := regexp.Compile(t.text)
		if err != nil {
			return nil, fail(t, "%s is no regular expression: %v", t, err)
		}
		return pattern.MatchString, nil
	}
	limit, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		return nil, fail(t, "expected a number after %s, got %s", op, t)
	}
	sign := map[string]int{"<": -1, ">": 1}[op]
	return func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && cmp.Compare(n, limit) == sign
	}, nil
}

// clause reads each N, first N, from N, after EVENT or next after EVENT, each with [by KEY].
func (p *parser[E]) clause() (func() gate[E], error) {
	t := p.next()
	switch {
	case t.kind != word:
	case t.text == "each" || t.text == "first" || t.text == "from":
		return p.count(t.text)
	case t.text == "after":
		return p.after(false)
	case t.text == "next" && p.accept(word, "after"):
		return p.after(true)
	}
	return nil, unknownWord(t, "clause", []string{"each N", "first N", "from N", "after STEP", "next after STEP"})
}

func (p *parser[E]) count(mode string) (func() gate[E], error) {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if t.kind != word || err != nil || n < 1 {
		return nil, fail(t, "expected a number from 1 on after %q, got %s", mode, t)
	}
	key, err := p.eventKey()
	return func() gate[E] { return &countGate[E]{mode: mode, n: n, key: key, counts: map[string]int{}} }, err
}

func (p *parser[E]) after(isSingle bool) (func() gate[E], error) {
	match, err := p.event()
	if err != nil {
		return nil, err
	}
	key, err := p.eventKey()
	if err != nil {
		return nil, err
	}
	var delay time.Duration
	if p.accept(mark, ",") {
		t := p.next()
		if delay, err = time.ParseDuration(t.text); err != nil || delay <= 0 {
			return nil, fail(t, "expected a duration such as 5s or 300ms, got %s", t)
		}
	}
	return func() gate[E] {
		return &afterGate[E]{match: match, key: key, delay: delay, isSingle: isSingle, times: map[string]time.Time{}}
	}, nil
}

// eventKey reads what an event belongs to; without it all belong together.
func (p *parser[E]) eventKey() (func(*E) string, error) {
	if !p.accept(word, "by") {
		return func(*E) string { return "" }, nil
	}
	t := p.next()
	key, names, ok := find(p.Keys, t.text, func(k Key[E]) string { return k.Name })
	if t.kind != word || !ok {
		return nil, unknownWord(t, "key", names)
	}
	return key.Get, nil
}

// acts reads ACT {, ACT}, each NAME {VALUE}.
func (p *parser[E]) acts() (all []func(*E), err error) {
	for hasMore := true; hasMore; hasMore = p.accept(mark, ",") {
		t := p.next()
		act, names, ok := find(p.Acts, t.text, func(a Act[E]) string { return a.Name })
		switch {
		case t.kind != word || !ok:
			return nil, unknownWord(t, "act", names)
		case len(act.At) > 0 && !slices.Contains(act.At, p.point):
			return nil, fail(t, "%q has no effect on %s; it works on %s", t.text, p.point, strings.Join(act.At, ", "))
		}
		var args []string
		for p.rest[0].kind == word || p.rest[0].kind == text {
			args = append(args, p.next().text)
		}
		if len(args) != len(act.Args) {
			usage := strings.Join(append([]string{act.Name}, act.Args...), " ")
			return nil, fail(t, "write %s; a value with spaces or marks is in quotes", usage)
		}
		do, err := act.Make(args)
		if err != nil {
			return nil, fail(t, "%s: %v", t.text, err)
		}
		all = append(all, do)
	}
	if t := p.rest[0]; t.kind != end {
		return nil, fail(t, "expected , and another act, or the end, got %s", t)
	}
	return all, nil
}
