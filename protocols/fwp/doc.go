// Package fwp implements the Faktory Work Protocol, version 2: it reads and writes replies (RESP) and command lines,
// strictly, and has types for greetings, work units and the states of a connection. A [ReplyError] is a refusal; after
// a [SyntaxError] replies can no longer be assigned to commands. Only [Reader.Read] blocks, on its underlying reader.
// Functions keep no state and are safe for concurrent use. One goroutine at a time may use a Reader. The names in
// parentheses at the end of a comment are sections of the specification.
package fwp
