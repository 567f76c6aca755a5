// Package law judges conversations with a server while they take place: whatever a client sends, every reply is held
// against all that the specification says of it. A [Law] is what one protocol says, and the package knows none. A
// [Watch] applies it to the connections of one play, which may all be in use at the same time.
package law
