package rule_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes/rule"
)

// event is a step of a fake that adds and takes things.
type event struct {
	point, verb, key, thing string
	size                    int // of the thing, 0: none
	skip                    bool
	reply                   []byte
	pause                   time.Duration
}

func vocabulary() *rule.Vocabulary[event] {
	at := func(name string) rule.Point[event] {
		return rule.Point[event]{Name: name, Match: func(e *event) bool { return e.point == name }}
	}
	return &rule.Vocabulary[event]{
		Points: []rule.Point[event]{at("read"), at("written")},
		Verbs:  []string{"ADD", "TAKE"},
		Verb:   func(e *event) string { return e.verb },
		Fields: []rule.Field{{Name: "thing"}, {Name: "size"}},
		Field: func(e *event, name string) (string, bool) {
			if name == "size" {
				return strconv.Itoa(e.size), e.size > 0
			}
			return e.thing, e.thing != ""
		},
		Tests: []rule.Test[event]{{Name: "large", Holds: func(e *event) bool { return e.size > 9 }}},
		Keys:  []rule.Key[event]{{Name: "key", Get: func(e *event) string { return e.key }}},
		Acts: []rule.Act[event]{
			rule.Do("skip", "", "", func(e *event) { e.skip = true }),
			rule.Value("write", "BYTES", "written", "", rule.Bytes, func(e *event, b []byte) { e.reply = b }),
			rule.Value("delay", "DURATION", "written", "", rule.Duration, func(e *event, d time.Duration) { e.pause = d }),
			rule.Values("both", "N TEXT", "", "", rule.Number, rule.Text, func(e *event, n int, s string) {
				e.size, e.thing = n, s
			}),
		},
	}
}

// hits returns which of some events a rule skips.
func hits(t *testing.T, text string, events ...event) (all []int) {
	t.Helper()
	r, err := vocabulary().Parse(text)
	require.NoError(t, err, text)
	hook := r.Hook()
	for i, e := range events {
		if hook(&e); e.skip {
			all = append(all, i)
		}
	}
	return all
}

func TestConditions(t *testing.T) {
	t.Parallel()
	events := []event{
		{point: "read", verb: "ADD", thing: "a b", size: 1}, {point: "read", verb: "TAKE"}, {point: "written", verb: "ADD"},
		{point: "read", verb: "ADD", thing: "c", size: 10}, {point: "read"},
	}
	for text, want := range map[string][]int{
		"on read: skip":                                   {0, 1, 3, 4},
		"on read ADD: skip":                               {0, 3},
		"on read ADD TAKE: skip":                          {0, 1, 3},
		`on read if thing = "a b": skip`:                  {0},
		`on read if thing != 'a b': skip`:                 {3},
		`on read if not thing = "a b": skip`:              {1, 3, 4},
		"on read if thing: skip":                          {0, 3},
		"on read if not thing: skip":                      {1, 4},
		`on read if "other" ~ "^[a-b]": skip`:             {0},
		"on read if size > 1: skip":                       {3},
		"on read if size < 10 and thing: skip":            {0},
		"on read if large: skip":                          {3},
		"on read ADD if not large and thing ~ a: skip":    {0},
		"on written:skip":                                 {2},
		"  on  read  TAKE  :  skip , both 3 'any text'  ": {1},
	} {
		assert.Equal(t, want, hits(t, text, events...), text)
	}
}

func TestClauses(t *testing.T) {
	t.Parallel()
	var events []event
	for e := range strings.FieldsSeq("a.ADD a.TAKE b.TAKE a.TAKE b.ADD b.TAKE a.TAKE b.TAKE") {
		key, verb, _ := strings.Cut(e, ".")
		events = append(events, event{point: "read", key: key, verb: verb})
	}
	for text, want := range map[string][]int{
		"on read TAKE; each 2: skip":                                    {2, 5, 7},
		"on read TAKE; each 2 by key: skip":                             {3, 5},
		"on read TAKE; first 2: skip":                                   {1, 2},
		"on read TAKE; from 2 by key: skip":                             {3, 5, 6, 7},
		"on read TAKE; after read ADD: skip":                            {1, 2, 3, 5, 6, 7},
		"on read TAKE; after read ADD by key: skip":                     {1, 3, 5, 6, 7},
		"on read TAKE; next after read ADD by key: skip":                {1, 5},
		"on read TAKE; after read ADD by key; first 1 by key: skip":     {1, 5},
		"on read TAKE; after read ADD by key; first 1: skip":            {1},
		"on read; after read: skip":                                     {1, 2, 3, 4, 5, 6, 7},
		"on read TAKE; after read ADD if thing: skip":                   nil,
		"on read TAKE; after read ADD by key; after read TAKE: skip":    {3, 5, 6, 7},
		"on read TAKE; next after read ADD by key; from 2 by key: skip": nil,
		"on read TAKE; from 2 by key; next after read ADD by key: skip": {3, 5},
		"on read TAKE; after read ADD by key, 1ms: skip":                nil,
		"on read ADD TAKE; each 3; after read ADD by key: skip":         {5}, // b had added nothing at 2
	} {
		assert.Equal(t, want, hits(t, text, events...), text)
	}
}

func TestAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := vocabulary().Parse("on read TAKE; after read ADD by key, 5s: skip")
		require.NoError(t, err)
		hook, lateEvent := r.Hook(), event{point: "read", verb: "TAKE", key: "a"}
		earlyEvent := lateEvent
		hook(&event{point: "read", verb: "ADD", key: "a"})
		time.Sleep(5*time.Second - time.Nanosecond)
		hook(&earlyEvent)
		time.Sleep(time.Nanosecond)
		hook(&lateEvent)
		assert.Equal(t, []bool{false, true}, []bool{earlyEvent.skip, lateEvent.skip})
	})
}

func TestActs(t *testing.T) {
	t.Parallel()
	r, err := vocabulary().Parse(`on written: write "+\"x\" \\r\\n\\xff", delay 2s, both 7 'a, b'`)
	require.NoError(t, err)
	e := event{point: "written"}
	r.Hook()(&e)
	assert.Equal(t, event{point: "written", reply: []byte("+\"x\" \r\n\xff"), pause: 2 * time.Second, size: 7,
		thing: "a, b"}, e)
}

func TestQuotedTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`a`, ``, `"a" and 'b'`, `\`, `c\"`, `; : {"d": "\n"}`} {
		r, err := vocabulary().Parse("on read: both 1 " + rule.Quote(text))
		require.NoError(t, err, text)
		e := event{point: "read"}
		r.Hook()(&e)
		assert.Equal(t, text, e.thing)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const conditions = "condition or field; expected one of large, size, thing, a member of the object in quotes"
	for text, want := range map[string]string{
		"":                              `1:1: expected "on" and a step, got the end`,
		"in read: skip":                 `1:1: expected "on" and a step, got "in"`,
		"on reed: skip":                 `1:4: "reed" is no step; expected one of read, written`,
		"on read GET: skip":             `1:9: "GET" is no command; expected one of ADD, TAKE`,
		"on read if: skip":              `1:11: expected a condition, got ":"`,
		"on read if colour = red: skip": `1:12: "colour" is no ` + conditions,
		"on read if thing ~ '(': skip": "1:20: the text \"(\" is no regular expression: " +
			"error parsing regexp: missing closing ): `(`",
		"on read if size > x: skip": `1:19: expected a number after >, got "x"`,
		"on read if size >: skip":   `1:18: expected a value after >, got ":"`,
		"on read; every 3: skip": `1:10: "every" is no clause; expected one of ` +
			"each N, first N, from N, after STEP, next after STEP",
		"on read; each 0: skip":           `1:15: expected a number from 1 on after "each", got "0"`,
		"on read; each 2 by colour: skip": `1:20: "colour" is no key; expected one of key`,
		"on read; after read, soon: skip": `1:22: expected a duration such as 5s or 300ms, got "soon"`,
		"on read skip":                    `1:9: "skip" is no command; expected one of ADD, TAKE`,
		"on read, skip":                   `1:8: expected ; and a clause, or : and an act, got ","`,
		"on read: jump":                   `1:10: "jump" is no act; expected one of both, delay, skip, write`,
		"on read:":                        `1:9: the end is no act; expected one of both, delay, skip, write`,
		"on read: skip 3":                 `1:10: write skip; a value with spaces or marks is in quotes`,
		"on read: both 3":                 `1:10: write both N TEXT; a value with spaces or marks is in quotes`,
		"on read: both x y":               `1:10: both: expected a number from 1 on, got "x"`,
		"on read: skip; both 3 y":         `1:14: expected , and another act, or the end, got ";"`,
		"on read: write x":                `1:10: "write" has no effect on read; it works on written`,
		`on written: write "\\q"`: `1:13: write: "\\q" has an escape that Go does not have; it has ` +
			`\r, \n, \t, \\ and \xFF`,
		"on written: delay 25h":            `1:13: delay: expected a duration of at most 24h, such as 5s or 300ms, got "25h"`,
		`on read if thing = "a: skip`:      `1:20: the text has no end: expected a closing "`,
		"on read if thing = é and ü: skip": `1:26: "ü" is no ` + conditions,
	} {
		_, err := vocabulary().Parse(text)
		assert.EqualError(t, err, want, text)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	all, err := vocabulary().ParseFile("# two rules\n\non read: skip\r\n  on written: skip")
	require.NoError(t, err)
	assert.Equal(t, []string{"on read: skip", "  on written: skip"}, []string{all[0].Text, all[1].Text})
	_, err = vocabulary().ParseFile("on read: skip\n\non reed: skip\n")
	require.EqualError(t, err, `3:4: "reed" is no step; expected one of read, written`)
	_, err = vocabulary().ParseFile("# none\n")
	assert.EqualError(t, err, "1:1: there is no rule: write one on each line")
}

// Two servers have hooks of their own, which count for themselves.
func TestHooksShareNothing(t *testing.T) {
	t.Parallel()
	r, err := vocabulary().Parse("on read; first 1: skip")
	require.NoError(t, err)
	first, second := event{point: "read"}, event{point: "read"}
	r.Hook()(&first)
	r.Hook()(&second)
	assert.True(t, first.skip && second.skip)
}

// Whatever a user writes is a rule or an error with a place in it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"on read ADD if thing ~ 'a' and not large; each 2 by key; next after written, 5s: skip, both 3 \"x\"", "on", "\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := vocabulary().Parse(text)
		if err != nil {
			at, ok := err.(*rule.Error) //nolint:errorlint // it is documented to be one
			require.True(t, ok)
			assert.True(t, at.Column >= 1 && at.Column <= len([]rune(text))+1)
			return
		}
		hook := r.Hook()
		for _, e := range slices.Repeat([]event{{point: "read", verb: "ADD"}, {point: "written"}}, 2) {
			hook(&e)
		}
	})
}
