package fwptest_test

import (
	"testing"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwptest"
)

// The server under test stands for one of your own.
func start(t *testing.T) string {
	t.Helper()
	server := fakes.NewServer(fakes.Config{})
	t.Cleanup(server.Close)
	return server.URL()
}

// TestExample is the example of the README: go test -run 'TestExample/hello' picks checks.
func TestExample(t *testing.T) {
	t.Parallel()
	fwptest.Run(t, start(t), &fwptest.Options{Checks: []string{"hello/*"}, Flush: true})
}
