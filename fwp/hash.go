package fwp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// MaxIterations bounds the work that a server may ask of a client. The
// specification states no bound; the rounds of its example are 1735, and this many
// take a fraction of a second.
const MaxIterations = 1 << 20

// PasswordHash returns the pwdhash of a HELLO to a protected server: SHA-256 applied
// iterations times in all, first to the password followed by the salt, then to the
// 32 raw bytes of the round before, in lower-case hexadecimal. It fails before any
// hashing if iterations is not within 1 and [MaxIterations].
// (HELLO Command, Required Fields for Protected Server)
func PasswordHash(password, salt string, iterations int) (string, error) {
	if iterations < 1 || iterations > MaxIterations {
		return "", fmt.Errorf("password hash: the server asks for %d iterations, outside 1 to %d",
			iterations, MaxIterations)
	}
	sum := sha256.Sum256([]byte(password + salt))
	for range iterations - 1 {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:]), nil
}
