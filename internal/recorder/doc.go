// Package recorder stands between clients and a server: it passes all bytes on, judges with package monitor what
// passes, and writes a conversation as a script that plays again.
//
// The bytes pass through package proxy, whose goroutines put a copy of what they read into a queue before they pass it
// on. One goroutine takes the queue, and does all the judging; a client waits for no rule. What does not
// fit into the queue is not judged, and passes on all the same.
//
// To read: recorder.go (connections), queue.go, judge.go (events, counts), script.go and script_text.go (the script),
// metrics.go, and scriptserver.go for the other way round: a script that answers clients.
package recorder
