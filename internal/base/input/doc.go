// Package input reads what comes from outside, within bounds: the files that users name, whatever a name stands for,
// and, with a [Reader], replies that a parser can look at as a whole, however long they are.
package input
