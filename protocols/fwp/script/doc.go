// Package script is FWP as scripts are written in it and played: what is
// particular to it in the script language and in the engine of package scenarios,
// and the scripts of the suite.
//
// To read: dialect.go (what scripts may write, greeting, questions, the scripts), check.go (what
// a client may send), profile.go (what clients of one family of servers may send besides), reply.go (what a server
// may answer), password.go (computed hashes), ledger.go (the jobs of a play and their removal); client.go (a worker
// that sends one command after the other), clean.go (removes what runs
// have left behind) and software.go (which server it is) are for the command line.
package script
