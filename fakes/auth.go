package fakes

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// drawSalt sets the salt and the iterations that HI announces on a protected server.
// (Not Identified State)
func (c *conn) drawSalt() {
	cfg := &c.s.cfg
	if !cfg.isProtected() {
		return
	}
	c.Salt = cfg.Salt
	if c.Salt == "" {
		c.Salt = salt(c.s.secret, c.ID)
	}
	if c.Iterations = cfg.Iterations; c.Iterations <= 0 {
		c.Iterations = 4000 + Chance(c.s.secret, "iterations", c.ID).IntN(4096)
	}
}

// validHash reports whether the hash is the password's, in a time that does not depend on how much of it is right.
// isSingleRound says that clients without v hash once, where they are allowed to.
func (c *conn) validHash(hash string, isSingleRound bool) bool {
	hash = strings.ToLower(hash)
	cfg := &c.s.cfg
	ok := false
	if cfg.AcceptHash != "" {
		ok = isEqual(hash, strings.ToLower(cfg.AcceptHash))
	}
	if cfg.Password != "" {
		rounds := c.Iterations
		if isSingleRound {
			rounds = 1
		}
		ok = isEqual(hash, Hash(cfg.Password+c.Salt, rounds)) || ok
	}
	return ok
}

func isEqual(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// Hash returns a password hash in hexadecimal: SHA-256 of the text, and of the 32 bytes of the previous round, rounds
// times in all. (Required Fields for Protected Server)
func Hash(text string, rounds int) string {
	data := []byte(text)
	for range rounds {
		sum := sha256.Sum256(data)
		data = append(data[:0], sum[:]...)
	}
	return hex.EncodeToString(data)
}

// Chance returns a random source that depends on the seed, a word and a number only. Each use has its own source,
// since the order of concurrent connections differs from run to run.
func Chance(seed uint64, word string, n int64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(word)) // never fails
	return rand.New(rand.NewPCG(seed^uint64(n), h.Sum64()))
}

// salt returns the salt of a connection: 16 digits.
func salt(seed uint64, conn int64) string {
	var b [8]byte
	for i, r := 0, Chance(seed, "salt", conn); i < len(b); i++ {
		b[i] = byte(r.Uint64())
	}
	return hex.EncodeToString(b[:])
}
