package fakes

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// drawSalt sets the salt and the iterations that HI announces on a protected server.
// (Not Identified State)
func (c *conn) drawSalt() {
	cfg := &c.s.cfg
	if !cfg.protected() {
		return
	}
	c.Salt = cfg.Salt
	if c.Salt == "" {
		c.Salt = salt(c.s.secret, c.ID)
	}
	if c.Iterations = cfg.Iterations; c.Iterations <= 0 {
		c.Iterations = 4000 + chance(c.s.secret, "iterations", c.ID).IntN(4096)
	}
}

// validHash reports whether the hash is the password's, in a time that does not depend
// on how much of it is right.
func (c *conn) validHash(hash string) bool {
	hash = strings.ToLower(hash)
	cfg := &c.s.cfg
	ok := false
	if cfg.AcceptHash != "" {
		ok = same(hash, strings.ToLower(cfg.AcceptHash))
	}
	if cfg.Password != "" {
		ok = same(hash, hashed(cfg.Password+c.Salt, c.Iterations)) || ok
	}
	return ok
}

func same(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// hashed applies SHA-256 to the text, and then to the 32 bytes of each round before,
// for that many rounds in all. (Required Fields for Protected Server)
func hashed(text string, rounds int) string {
	data := []byte(text)
	for range rounds {
		sum := sha256.Sum256(data)
		data = append(data[:0], sum[:]...)
	}
	return hex.EncodeToString(data)
}
