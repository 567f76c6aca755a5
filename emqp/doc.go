// Package emqp has the messages of the EventMQ Protocol, eMQP/1.0: what frames each command consists of, headers, and
// the queues of a worker. It parses strictly, and what it builds is right; frames that are wrong are written as
// frames. It knows nothing of sockets: package zmtp carries the frames, without those of a ROUTER.
//
// Where two sentences of the document exclude each other, both readings are taken and nothing beyond the two; the
// comments name these places. The names in brackets are the sections of the document.
package emqp
