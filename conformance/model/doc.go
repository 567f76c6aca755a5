// Package model is what the specification leaves open to a server and what it does
// not: the two machines of the protocol, the connection and the work unit, and what
// each command may be answered in each state.
//
// A [World] follows what clients send and what comes back, and says where a reply is
// one that no reading of the specification allows. Where the text is silent or has two
// readings it allows both; what nobody can know (a command whose reply never came, a
// job that a vanished consumer may have been given) it holds for possible in every
// way. It knows no server and no clock: time is told with every call.
//
// What is expected is written in the notation of the suite's scripts, as in
// `+OK | -`.
package model
