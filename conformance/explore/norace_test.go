//go:build !race

package explore_test

// racing says whether the race detector watches.
const racing = false
