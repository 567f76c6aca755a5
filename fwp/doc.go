// Package fwp implements the Faktory Work Protocol, version 2: it reads and writes
// RESP, splits and checks command lines, and has the types of the data in them (work
// units, HI, HELLO) and the connection's states.
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
// There are two types of failures. A [ReplyError] is a command that the server refused;
// a [SyntaxError] is a peer that broke the grammar, after which its replies can no longer
// be assigned to commands.
//
// Nothing blocks, except [Reader.Read] on its underlying reader, and nothing keeps state
// between calls, except a Reader. Functions are safe for concurrent use; a Reader
// belongs to one goroutine at a time.
//
// Replies: reader.go, decode.go, decode_bulk.go, decode_number.go, syntax.go (the rules that a reply breaks),
// reply.go, encode.go. Commands: command.go, hello.go, hash.go, job.go, job_field.go,
// field.go (tables of fields), object.go (JSON objects). Connections: state.go.
package fwp
