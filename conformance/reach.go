package conformance

import (
	"slices"
	"time"
)

// Goal is what must have happened in a conversation for a pass of a clause to mean something: an event, and not
// that a line was played.
type Goal struct {
	Words    string // completes "it was never seen that"
	happened func([]exchange) bool
}

// NewGoal returns the goal that one of the commands of a conversation had a reply for which is returns true: both as
// the conversation has them, on one line. The words complete "it was never seen that".
func NewGoal(words string, is func(sent, reply string, took time.Duration) bool) Goal {
	return Goal{words, anyOf(func(x exchange) bool { return x.got != "" && is(x.sent, x.got, x.took()) })}
}

// anyOf returns the goal of a single exchange.
func anyOf(is func(exchange) bool) func([]exchange) bool {
	return func(all []exchange) bool { return slices.ContainsFunc(all, is) }
}
