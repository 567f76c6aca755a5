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
// hashing, with an *[IterationsError], if iterations is not within 1 and [MaxIterations].
// (HELLO Command, Required Fields for Protected Server)
func PasswordHash(password, salt string, iterations int) (string, error) {
	if err := CheckIterations(iterations); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(password + salt))
	for range iterations - 1 {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:]), nil
}

// HexPasswordHash returns the hash of a client with a common mistake: it hashes the
// hexadecimal text of each round instead of the raw bytes. For one iteration, which has no
// round before, it hashes the hexadecimal text of password and salt. The errors are those of
// [PasswordHash].
func HexPasswordHash(password, salt string, iterations int) (string, error) {
	if err := CheckIterations(iterations); err != nil {
		return "", err
	}
	text := []byte(password + salt)
	if iterations == 1 {
		text = hex.AppendEncode(nil, text)
	}
	for range iterations {
		sum := sha256.Sum256(text)
		text = hex.AppendEncode(text[:0], sum[:])
	}
	return string(text), nil
}

// CheckIterations returns an *[IterationsError] if iterations is not within 1 and [MaxIterations].
func CheckIterations(iterations int) error {
	if iterations < 1 || iterations > MaxIterations {
		return &IterationsError{iterations}
	}
	return nil
}

// IterationsError reports a number of rounds that is not computed.
type IterationsError struct{ Iterations int }

// Error returns the number and the bounds.
func (e *IterationsError) Error() string {
	return fmt.Sprintf("password hash: the server asks for %d iterations, outside 1 to %d, which are computed",
		e.Iterations, MaxIterations)
}
