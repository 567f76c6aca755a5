//go:build race

package history

// racing says whether the race detector watches.
const racing = true
