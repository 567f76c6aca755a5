// Package zmtp implements the ZeroMQ Message Transport Protocol, version 3.1, over any [net.Conn]: greeting, the NULL
// mechanism, commands, frames, messages and heartbeats. It has two sockets, [Dealer] and [Router]. [Reader] is strict;
// writing checks nothing, so that a test can send invalid bytes. There is no PLAIN, no CURVE, no other socket types, no
// resources, and no reconnecting. The names in parentheses at the end of a comment are sections of 37/ZMTP, or of
// 28/REQREP (https://rfc.zeromq.org). An octet is a byte.
package zmtp
