// Command proof plays everything that the project has to prove itself with, and writes what was found, a line each: so
// that two states of the project can be compared. It is for contributors; docs/proofs.md says how to use it.
//
// To read: line.go is a line and a file of them, player.go plays what a file lacks, catalogue.go has the faults and
// variations of all catalogues, real.go real servers and workers, marks.go faults without the marks of the scripts,
// mutants.go scripts with a reply that tap.go changes as reply.go says; survivors.go has those that nothing finds, and
// classes.go the rules by which most of them are allowed; compare.go says what differs between two files, and main.go
// has the commands.
package main
