package fwpdialect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/session/fwpsession"
)

// pwdhash computes the password hash for the HI of a connection, or a wrong one that
// misses it in a given way. (Required Fields for Protected Server)
func pwdhash(s session.State, password, variant string) (string, error) {
	hi := s.(*fwpsession.State).Hi()
	if !hi.Protected {
		return "", errors.New("the server's HI asks for no password")
	}
	rounds := hi.Iterations
	switch variant {
	case "fewer":
		if rounds--; rounds == 0 {
			return hex.EncodeToString([]byte(password + hi.Salt)), nil
		}
	case "more":
		rounds++
	case "wrong":
		password += "-not"
	case "hex":
		return hexRounds(password+hi.Salt, rounds)
	}
	return fwp.PasswordHash(password, hi.Salt, rounds)
}

// hexRounds hashes the hexadecimal text between the rounds, which is wrong. Where
// there is one round only, and so nothing between, it hashes that of the text.
func hexRounds(text string, rounds int) (string, error) {
	if rounds > fwp.MaxIterations {
		return "", fmt.Errorf("%d iterations are more than the suite computes", rounds)
	}
	if rounds == 1 {
		text = hex.EncodeToString([]byte(text))
	}
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text, nil
}
