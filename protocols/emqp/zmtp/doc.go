// Package zmtp implements the ZeroMQ Message Transport Protocol, version 3.1, over any [net.Conn]: greeting, the NULL
// mechanism, commands, frames, messages and heartbeats. It has two sockets, [Dealer] and [Router].
//
// [Reader] is strict. Bytes that break the grammar are a [SyntaxError] with their offset and rule. A size that a peer
// announces allocates no memory. Writing checks nothing, so that a test can send invalid bytes: the Append functions
// write what they are given, [AppendHeader] any flags and sizes, [Dealer.Raw] any octets.
//
// A peer of version 3.0 is accepted, and gets no PING, since it does not have that command. A peer below 3.0 is
// refused, as the specification allows.
//
// The names in parentheses at the end of a comment are sections of 37/ZMTP, or of 28/REQREP (https://rfc.zeromq.org).
// The package has no PLAIN, no CURVE, no other socket types, no resources, and no reconnecting. An octet is a byte.
//
// Bytes: reader.go, frame.go, greeting.go, command.go. Sockets: types.go (and the rules that a peer breaks),
// config.go, handshake.go, link.go (a connection), queue.go, dealer.go, router.go.
package zmtp
