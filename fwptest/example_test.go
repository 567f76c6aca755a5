package fwptest_test

import (
	"testing"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwptest"
)

// The server under test stands for one of your own.
func start(t *testing.T) *fakes.Server {
	t.Helper()
	server := fakes.NewServer(fakes.Config{})
	t.Cleanup(server.Close)
	return server
}

// TestConformance has the lines of docs/go-packages.md.
//
//nolint:paralleltest // as in the page
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	server := start(t) // the server under test
	fwptest.Run(t, server.URL(), nil)
}

// TestExample has options: go test -run 'TestExample/hello' picks checks.
func TestExample(t *testing.T) {
	t.Parallel()
	fwptest.Run(t, start(t).URL(), &fwptest.Options{Checks: []string{"hello/*"}, Flush: true})
}
