package explore

import (
	"crypto/sha256"
	"encoding/hex"
)

// hexRounds hashes the hexadecimal text between the rounds, which is wrong.
func hexRounds(text string, rounds int) string {
	if rounds == 1 {
		text = hex.EncodeToString([]byte(text))
	}
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text
}
