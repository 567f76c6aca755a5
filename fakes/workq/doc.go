// Package workq is a conforming Workq server in memory, with one hook for what may be wrong with it, and the catalogues
// of bugs and variations. Of Workq it shares only the bytes, protocols/workq, with what tests servers.
package workq
