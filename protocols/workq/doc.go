// Package workq reads and writes the bytes of the Workq protocol: command lines with counted blocks and flags, replies
// with counted records, and ids, names, times and numbers. It is strict. It has no client and no server, and only
// [Reader.Read] blocks. Where two sentences of the specification exclude each other, both readings are accepted, and a
// comment says so. The names in parentheses at the end of a comment are sections of the specification. Sizes are in
// bytes, times in milliseconds unless a comment says otherwise.
package workq
