// Package fwp speaks the Faktory Work Protocol, version 2: it reads and writes
// RESP, splits and judges command lines, and holds the data that travels in
// them (work units, HI, HELLO) together with the connection's states.
//
// By theme:
//
//   - bytes to replies: [Decode], [Reader], [Reply], [Kind]
//   - what is wrong with bytes: [SyntaxError], [Rule], [ErrShort]
//   - replies to bytes: [AppendSimple], [AppendError], [AppendInteger],
//     [AppendBulk], [AppendNull]
//   - command lines: [Command], [ParseCommand], [SplitCommand], [AppendCommand]
//   - greeting: [ParseHi], [Hi], [Hello], [PasswordHash]
//   - work units: [Job]
//   - states of a connection: [State]
//
// Two kinds of failure are kept apart by type. A [ReplyError] is a server that
// understood and said no; a [SyntaxError] is a peer that broke the grammar, after
// which nothing that it sends can be trusted to be in step.
//
// Nothing here waits, except [Reader.Read] on the reader that it was given, and
// nothing keeps state between calls, except a Reader. Functions are safe for
// concurrent use; a Reader belongs to one goroutine at a time.
package fwp
