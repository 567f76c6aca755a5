//go:build race

package explore_test

// racing says whether the race detector watches: then fewer commands must do.
const racing = true
