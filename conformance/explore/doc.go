// Package explore walks a server through states that nobody listed.
//
// An [Explorer] makes up commands (legal ones, such that are illegal in the state of
// their connection, malformed ones), sends them over several connections, and holds
// every reply against package model. What no reading of the specification allows is
// made small by playing shorter and shorter conversations on fresh names, and written
// down as a script of the suite's own language.
//
// The commands follow from the seed and from what came back: the same seed against a
// server that answers the same gives the same commands. All names (queues, jobs,
// workers) carry the prefix of the run; FLUSH and the queue default are used only on a
// server that nobody else uses; and what is left at the end is removed.
//
// All waiting goes through timers and connections, so that an exploration can be
// played in virtual time.
package explore
