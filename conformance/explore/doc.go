// Package explore brings a server into states that no script lists.
//
// An [Explorer] makes up steps (legal commands, such that are illegal in the state of
// their connection, malformed ones), sends them over several connections, and has every
// reply judged. What may be sent and what may be answered is a [Subject]: the package
// knows no rule of a protocol. A violation is shrunk by playing shorter and shorter
// conversations on fresh names, and written down as a script of the suite's own language.
//
// The commands follow from the seed and from the replies: the same seed against a
// server that answers the same gives the same commands. All names (queues, jobs,
// workers) carry the prefix of the run; what others have on the server is not touched,
// unless no other client uses the server; and what is left at the end is removed.
//
// All waiting goes through timers and connections, so that an exploration can be
// played in virtual time.
//
// To read: subject.go is the seam, step.go a conversation, names.go what its names stand
// for, explorer.go one run, budget.go how its time is shared. draw.go and generate.go make up steps; play.go, send.go
// and receive.go play them, alive.go and limit.go look whether the server still serves; finding.go, shrink.go,
// begin.go, try.go and simplify.go shrink what was found, and script.go writes it. compare.go and pair.go play the same
// on two servers.
package explore
