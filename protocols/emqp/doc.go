// Package emqp reads and writes the messages of the EventMQ Protocol, eMQP/1.0. [Parse] is strict, and the functions
// that build a [Message] build valid ones. It has no sockets: package zmtp sends and receives the frames. Nothing
// blocks, and all functions are safe for concurrent use. Where two sentences of the specification exclude each other,
// both readings are accepted and no others; comments name these places. The names in parentheses at the end of a
// comment are sections of the specification.
package emqp
