// Package blockq is a small second protocol with a server of its own, and the skeleton of docs/adding-a-protocol.md. It
// exists for tests only: scripts, exploring and load are carried through it to show that their engines know no protocol.
// No program imports it.
//
// It is a line protocol with counted blocks, and unlike FWP in what matters to an engine: the client speaks first, there
// is no greeting and no heartbeat, a command may carry a block whose size its line announces, and a reply has a word in
// front instead of a type's sign. Lines end with CRLF, words are separated by one space:
//
//	join NAME            OK                      first, and only once
//	put QUEUE ID SIZE    OK                      a block of SIZE bytes and CRLF follow the line
//	take QUEUE           JOB ID SIZE | NONE      a block of SIZE bytes and CRLF follow a JOB line
//	done ID              OK                      of a job that was taken, by whichever client
//	count QUEUE          COUNT N                 jobs that wait in the queue
//	ping                 OK
//	bye                                          the server closes the connection
//
// Any command but bye may be answered "ERR reason" instead: "join first" to all but join, ping and bye before a join,
// "joined already", "duplicate" for the id of a job that waits or is taken, "unknown" for the id of a job that is not
// taken, and "malformed". The connection stays open after an error, except after one that leaves the beginning of the
// next command unknown: a put with an invalid size, a block without its CRLF, a line that is too long. A job that was
// taken stays so until it is done, whatever becomes of the connection.
//
// Files: lines.go (the bytes of both directions), server.go.
package blockq
