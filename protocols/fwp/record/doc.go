// Package record stands between clients and a server: it passes all bytes on, judges what passes, the clients with
// protocols/fwp/clientrules and the server with the law of the protocol, and writes a conversation as a script that
// plays again. The goroutines of internal/target/proxy put a copy of what they read into a queue before they pass it
// on. One goroutine takes the queue and does all the judging; a client waits for no rule. What does not fit into the
// queue is not judged, and passes on all the same.
package record
