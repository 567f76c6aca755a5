package script

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
)

// wrongHashes returns the names of the ways in which a password hash can miss the right one: by its rounds, by what
// is hashed, or by its digits.
func wrongHashes() []string {
	return []string{
		"plain", "once", "fewer", "more", "hex",
		"wrong", "shorter", "nopassword", "nosalt", "saltfirst",
		"cut", "half", "long", "first", "last", "upper",
	}
}

// pwdhash computes the password hash for the HI of a connection, or one that misses it in a given way.
// (Required Fields for Protected Server)
func pwdhash(s session.State, password, variant string) (string, error) {
	hi := s.(*fwpsession.State).Hi()
	if !hi.Protected {
		return "", errors.New("the server's HI asks for no password")
	}
	return PasswordHash(hi, password, variant)
}

// PasswordHash computes the password hash for a HI, or one that misses it in a way that has a name ("fewer", "cut").
// It fails if the hash cannot be computed, or would be the right one.
func PasswordHash(hi fwp.Hi, password, variant string) (string, error) {
	salt, rounds := hi.Salt, hi.Iterations
	switch variant {
	case "plain":
		return password, nil
	case "once":
		if rounds = 1; hi.Iterations == rounds {
			return "", errors.New("the server asks for one round")
		}
	case "fewer":
		if rounds--; rounds == 0 {
			return hex.EncodeToString([]byte(password + salt)), nil
		}
	case "more":
		rounds++
	case "hex":
		return fwp.HexPasswordHash(password, salt, rounds)
	default:
		password, salt = wrongText(password, salt, variant)
	}
	hash, err := fwp.PasswordHash(password, salt, rounds)
	if err != nil {
		return "", err
	}
	if hash = wrongDigits(hash, variant); variant == "nosalt" && hi.Salt == "" {
		return "", errors.New("the server's salt is empty")
	}
	return hash, nil
}

// wrongText returns another password, or another salt. Together they are hashed.
func wrongText(password, salt, variant string) (string, string) {
	switch variant {
	case "wrong":
		return password + "-not", salt
	case "shorter":
		return password[:max(len(password)-1, 0)], salt
	case "nopassword":
		return "", salt
	case "nosalt":
		return password, ""
	case "saltfirst":
		return salt, password
	}
	return password, salt
}

// wrongDigits returns a hash with digits that are missing, too many or other ones.
func wrongDigits(hash, variant string) string {
	other := func(digit byte) string {
		if digit == '0' {
			return "1"
		}
		return "0"
	}
	last := len(hash) - 1
	switch variant {
	case "cut":
		return hash[:last]
	case "half":
		return hash[:len(hash)/2]
	case "long":
		return hash + "00"
	case "first":
		return other(hash[0]) + hash[1:]
	case "last":
		return hash[:last] + other(hash[last])
	case "upper":
		return strings.ToUpper(hash)
	}
	return hash
}
