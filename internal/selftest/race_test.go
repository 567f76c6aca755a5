//go:build race

package selftest

// racing says whether the race detector watches, which makes everything ten times slower:
// then fewer scripts are played, the same code with the same locks.
const racing = true
