//go:build !race

package selftest

// racing says whether the race detector watches.
const racing = false
