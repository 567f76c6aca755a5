// Package oracle judges what a server answers. A [World] follows what clients send and
// what comes back, asks package model what may come, and says where a reply is one that
// no reading of the specification allows, and by which clause.
//
// What nobody can know, such as the fate of a command whose reply never came or of a job
// that a vanished consumer may have been given, it holds for possible in every way. It
// knows no server and no clock: time is told with every call.
//
// What is expected is written in the notation of the suite's scripts, as in
// `+OK | -`.
package oracle
