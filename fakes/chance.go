package fakes

import (
	"encoding/hex"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// chance returns a source of numbers that follow from the seed, a word and a number alone. It is not one source for
// all: connections run side by side, so who draws first differs from run to run.
func chance(seed uint64, word string, n int64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(word)) // never fails
	return rand.New(rand.NewPCG(seed^uint64(n), h.Sum64()))
}

// drawn returns a function that draws times between two bounds, the same one for the same word and number in every run.
func drawn(least, most time.Duration) func(word string, n int64) time.Duration {
	return func(word string, n int64) time.Duration {
		return least + time.Duration(chance(0, word, n).Int64N(int64(most-least)))
	}
}

// salt returns the salt of a connection: 16 digits.
func salt(seed uint64, conn int64) string {
	var b [8]byte
	for i, r := 0, chance(seed, "salt", conn); i < len(b); i++ {
		b[i] = byte(r.Uint64())
	}
	return hex.EncodeToString(b[:])
}
