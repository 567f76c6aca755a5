package law

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// allowPassword sets what may be answered to the pwdhash of a HELLO. (Required Fields for Protected Server)
func (w *World) allowPassword(c *Conn, k *call) {
	hash, sent := k.Fields["pwdhash"].(string)
	kind := model.NoHash
	if sent {
		kind = w.hashCase(c, hash)
	}
	if kind == model.Usual {
		k.clause = cmp.Or(c.earlierClause, "FWP-AUTH-03")
		return
	}
	r := model.FindRule(c.State, fwp.HELLO, kind)
	k.kind, k.answers, k.clause = kind, r.Answers, r.Clause
}

// hashCase returns the case of a hash; Usual if it is right. A hash of more rounds than are computed is wrong: no
// client of an exploration has the right one.
func (w *World) hashCase(c *Conn, hash string) model.Case {
	rounds, lower := c.Hi.Iterations, strings.ToLower(hash)
	matches := func(hashOf func(password, salt string, iterations int) (string, error), rounds int) bool {
		h, err := hashOf(w.Password, c.Hi.Salt, rounds)
		return err == nil && lower == h
	}
	switch right := matches(fwp.PasswordHash, rounds); {
	case right && lower == hash:
		return model.Usual
	case right:
		return model.UpperHash
	case slices.Contains(w.hashes, hash):
		return model.OldHash
	case matches(fwp.PasswordHash, rounds-1), matches(fwp.PasswordHash, rounds+1), matches(fwp.HexPasswordHash, rounds):
		return model.OtherRounds
	}
	return model.WrongHash
}
