// Package record stands between clients and a server: it passes all bytes on, judges what passes, the clients with
// package clientrules and the server with the law of the protocol, and writes a conversation as a script that plays
// again.
//
// The bytes pass through package proxy, whose goroutines put a copy of what they read into a queue before they pass it
// on. One goroutine takes the queue, and does all the judging; a client waits for no rule. What does not
// fit into the queue is not judged, and passes on all the same.
//
// To read:
//
//   - connections: recorder.go; what waits to be judged: queue.go; events and counts: judge.go, law.go, metrics.go
//   - the conversation as a script: script.go, script_text.go; made smaller: shrink.go
//   - the other way round, a script that answers clients: scriptserver.go, scriptside.go
package record
