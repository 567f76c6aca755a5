// Package workq is the protocol of Workq as bytes: command lines with counted blocks and flags, replies with counted
// records, the form of ids, names, times and numbers. It is strict, and knows neither clients nor servers.
//
// Where two sentences of the document exclude each other, both readings are taken; the comments say where.
//
// To read: command.go (what a client sends), value.go (the words in it), reply.go (what a server answers),
// reader.go (replies from a stream).
package workq
