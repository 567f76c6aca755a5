package target

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/input"
)

// ReadPassword reads a password file: all of it, without the end of its last
// line. No error holds anything of it.
func ReadPassword(file string) (string, error) {
	text, err := input.Read(file, 64<<10)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case password == "":
		return "", fmt.Errorf("password file %s: it is empty", file)
	case strings.ContainsAny(password, "\r\n"):
		return "", fmt.Errorf("password file %s: it has more than one line", file)
	}
	return password, nil
}
