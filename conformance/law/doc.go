// Package law judges conversations with a server while they take place: whatever a client sends, every reply is held
// against all that the specification says of it. A [Law] is what one protocol says. A [Watch] applies it to the
// connections of one play, which may all be in use at the same time.
//
// To read: law.go (a law, what it is given and what it answers), rules.go (its rules, from their text), watch.go (a
// play), conn.go (one connection of it, and the order in which its messages are judged), server.go (what plays on one
// server have in common), tap.go (connections that package session does not hold), clock.go (times that a server
// writes), tally.go (what was judged), refusal.go (what a server refuses that may be about to end).
package law
