// Package standstill names the ways in which a server does not serve, each with one sentence, by what was seen of it:
// of its process, of a connection that was open before, and of new ones. Whoever finds that a server does not serve
// takes the looks, and all of them say the same.
package standstill
