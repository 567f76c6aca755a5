package shared

import (
	"os"
	"testing"
)

// TestMain is no supervisor: a command that starts one of its program would run all tests again, and these as many.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(1)
	}
	m.Run()
}
