package conformance

import (
	"slices"
	"time"
)

// Goal is what must have happened in a conversation for a pass of a clause to mean something: an event, and not
// that a line was played.
type Goal struct {
	Words    string // completes "it was never seen that"
	Happened func([]Exchange) bool
}

// NewGoal returns the goal that one of the commands of a conversation had a reply for which is returns true: both as
// the conversation has them, on one line. The words complete "it was never seen that".
func NewGoal(words string, is func(sent, reply string, took time.Duration) bool) Goal {
	return Goal{words, AnyOf(func(x Exchange) bool { return x.Got != "" && is(x.Sent, x.Got, x.Took()) })}
}

// AnyOf returns the goal of a single exchange.
func AnyOf(is func(Exchange) bool) func([]Exchange) bool {
	return func(all []Exchange) bool { return slices.ContainsFunc(all, is) }
}
