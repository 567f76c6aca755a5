//go:build !race

package golden

// Racing reports whether the race detector watches: what runs the same code again and again then does so less often.
const Racing = false
