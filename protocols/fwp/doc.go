// Package fwp implements the Faktory Work Protocol, version 2. It reads and writes replies (RESP) and command lines,
// and has types for greetings, work units and the states of a connection.
//
// By theme:
//
//   - bytes to replies: [Decode], [Reader], [Reply], [Kind]
//   - syntax errors: [SyntaxError], [Rule], [ErrShort]
//   - replies to bytes: [AppendSimple], [AppendError], [AppendInteger],
//     [AppendBulk], [AppendNull]
//   - command lines: [Command], [ParseCommand], [SplitCommand], [AppendCommand]
//   - greeting: [ParseHi], [Hi], [Hello], [PasswordHash]
//   - work units: [Job]
//   - states of a connection: [State]
//
// There are two kinds of failures. A [ReplyError] is an error reply: the server refused the command, and the
// connection goes on. A [SyntaxError] is a reply that breaks the grammar: later replies can no longer be assigned to
// commands.
//
// Only [Reader.Read] blocks, on its underlying reader. Functions keep no state and are safe for concurrent use. One
// goroutine at a time may use a Reader.
//
// The names in parentheses at the end of a comment are sections of the specification.
//
// Replies: reader.go, decode.go, decode_bulk.go, decode_number.go, syntax.go (the rules that a reply breaks),
// reply.go, encode.go. Commands: command.go, hello.go, hash.go, job.go, job_field.go, field.go (tables of fields),
// object.go (JSON objects). Connections: state.go.
package fwp
