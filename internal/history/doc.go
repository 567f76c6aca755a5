// Package history records the commands and replies of clients, and evaluates them afterwards, job by job. A [Recorder]
// records events of many goroutines and returns a [History], which [Judge] evaluates. It stands apart from the law of
// conversations because it judges after the fact: it may try every order of the calls.
package history
