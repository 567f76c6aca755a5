// Package model holds the specification's two state machines as tables: what a server may answer to each command in
// each state of a connection, and where each event may take a work unit. Every row names its clause, and is as wide as
// the readings of that clause: a reply that no row allows is one that no reading allows. The tables use no server, no
// client and no clock. protocols/fwp/law follows a conversation with them; the diagrams in docs/exploring.md are drawn
// from them.
package model
