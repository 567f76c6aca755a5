package law

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// password sets what may be answered to the pwdhash of a HELLO. (Required Fields for Protected Server)
func (w *World) password(c *Conn, k *call) {
	hash, sent := k.Fields["pwdhash"].(string)
	kind := model.NoHash
	if sent {
		kind = w.hashed(c, hash)
	}
	if kind == model.Usual {
		k.clause = cmp.Or(c.earlier, "FWP-AUTH-03")
		return
	}
	r := model.For(c.State, fwp.HELLO, kind)
	k.kind, k.allowed, k.clause = kind, r.May, r.Clause
}

// hashed returns the case of a hash; Usual if it is right. A hash of more rounds than are computed is wrong: no client
// of an exploration has the right one.
func (w *World) hashed(c *Conn, hash string) model.Case {
	rounds, lower := c.Hi.Iterations, strings.ToLower(hash)
	is := func(of func(password, salt string, iterations int) (string, error), rounds int) bool {
		h, err := of(w.Password, c.Hi.Salt, rounds)
		return err == nil && lower == h
	}
	switch right := is(fwp.PasswordHash, rounds); {
	case right && lower == hash:
		return model.Usual
	case right:
		return model.UpperHash
	case slices.Contains(w.hashes, hash):
		return model.OldHash
	case is(fwp.PasswordHash, rounds-1), is(fwp.PasswordHash, rounds+1), is(fwp.HexPasswordHash, rounds):
		return model.OtherRounds
	}
	return model.WrongHash
}
