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
// The files by idea:
//
//   - the seam and the run: subject.go has what a protocol gives, step.go a conversation, names.go what its names stand
//     for, explorer.go one run, progress.go how its time is shared and what was covered, save.go steps as they are kept
//   - playing: generate.go makes up steps; play.go, send.go, receive.go and push.go play them and clean up, disrupt.go
//     does what no client can, alive.go looks whether the server still serves, and how many connections
//   - findings: finding.go keeps them, shrink.go makes them small, begin.go says where that begins and simplify.go what
//     becomes plainer, try.go plays a try; script.go, script_hit.go and script_names.go write the result
//   - besides: compare.go and pair.go play the same on two servers, property.go makes a check of a suite of an
//     exploration
package explore
