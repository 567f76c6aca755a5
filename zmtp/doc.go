// Package zmtp is the ZeroMQ Message Transport Protocol, version 3.1, over any [net.Conn]: greeting, the NULL
// mechanism, commands, frames, messages and heartbeats, and the two sockets that a tester needs, a [Dealer] and a
// [Router].
//
// [Reader] is strict: whatever breaks the grammar is a [SyntaxError] with its offset and rule, and nothing that a peer
// announces makes it allocate memory. What is written is not checked, so that everything wrong can be written too:
// the Append functions write what they are given, [AppendHeader] any flags and sizes, [Dealer.Raw] any bytes.
//
// A peer that speaks 3.0 is served: the two versions differ in the commands PING and PONG, which a 3.0 peer is not
// sent. A peer below 3.0 is refused, as the specification allows.
//
// The sections that comments name are those of 37/ZMTP, and of 28/REQREP where they say so (https://rfc.zeromq.org).
// PLAIN, CURVE, sockets other than DEALER and ROUTER, resources and reconnecting are not part of the package.
//
// Bytes: reader.go, frame.go, greeting.go, command.go. Sockets: types.go (and the rules that a peer breaks),
// config.go, handshake.go, link.go (a connection), queue.go, dealer.go, router.go.
package zmtp
