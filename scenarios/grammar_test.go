package scenarios

import "time"

// likeFWP is what the tests in the package know of a dialect; package fwpdialect, which
// has the real one, imports this one.
type likeFWP struct{ Dialect }

func (likeFWP) Grammar() *Grammar {
	return &Grammar{
		Encoding: "RESP",
		Forms: []Form{
			{Sign: "+", Kind: '+', Value: LineValue, Words: "a simple string"},
			{Sign: "-", Kind: '-', Value: LineValue, Words: "an error", Refusal: true},
			{Sign: "$-1", Kind: '_', Words: "a null bulk string", Short: "null"},
			{Sign: "$", Kind: '$', Value: BlockValue, Words: "a bulk string"},
			{Sign: ":", Kind: ':', Value: NumberValue, Words: "an integer"},
			{Sign: "*", Kind: '*', Value: PartsValue, Words: "an array"},
		},
		Families: []string{"jid", "queue", "wid"},
		Client:   "wid",
		Computed: []Computed{
			{Name: "job", Fields: func(bool) []Field { return nil }},
			{Name: "pwdhash", Needs: NeedPassword, Variants: []string{
				"fewer", "more", "hex", "wrong", "shorter", "nopassword", "nosalt", "saltfirst",
				"cut", "half", "long", "first", "last", "upper",
			}},
		},
		Settings: []string{"salt", "iterations", "pwdhash", "state", "end"},
		Waits:    map[string]Wait{"FETCH": {Kind: '_', Least: 2 * time.Second}},
		Due:      "at",
		Defers:   []string{"at", "FAIL"},
	}
}

// cursorAt is a cursor at the beginning of a line.
func cursorAt(line string) *cursor { return &cursor{line: line, grammar: likeFWP{}.Grammar()} }
