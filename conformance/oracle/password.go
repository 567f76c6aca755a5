package oracle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// password sets what may be answered to the pwdhash of a HELLO. (Required Fields for Protected Server)
func (w *World) password(c *Conn, k *call) {
	hash, sent := k.Fields["pwdhash"].(string)
	kind := w.hashed(c, hash)
	switch {
	case !sent:
		kind = model.NoHash
	case kind == model.Usual:
		k.clause = cmp.Or(c.earlier, "FWP-AUTH-03")
		return
	}
	r := model.For(c.State, fwp.HELLO, kind)
	k.allowed, k.clause = r.May, r.Clause
}

// hashed returns the case of a hash; Usual if it is right.
func (w *World) hashed(c *Conn, hash string) model.Case {
	rounds := c.Hi.Iterations
	of := func(rounds int) string { h, _ := fwp.PasswordHash(w.Password, c.Hi.Salt, rounds); return h }
	switch lower := strings.ToLower(hash); {
	case hash == of(rounds):
		return model.Usual
	case lower == of(rounds):
		return model.UpperHash
	case slices.Contains(w.hashes, hash):
		return model.OldHash
	case lower == of(rounds-1), lower == of(rounds+1), rounds > 1 && lower == HexRounds(w.Password+c.Hi.Salt, rounds):
		return model.OtherRounds
	}
	return model.WrongHash
}

// HexRounds returns a wrong hash: that of the hexadecimal form of a digest, again and again.
func HexRounds(text string, rounds int) string {
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text
}
