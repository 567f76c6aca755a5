//go:build race

package slow

// Racing reports whether the race detector watches: what runs the same code again and again then does so less often.
const Racing = true
