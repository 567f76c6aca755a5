package fwp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
)

// Version is the protocol version of the specification, the v of HI and HELLO.
const Version = 2

// Hi is the server's greeting. (Not Identified State)
type Hi struct {
	// Version is the v that the server sent: 2 if it conforms. It is not checked.
	Version int
	// Iterations and Salt are i and s. They are not checked either: PasswordHash
	// refuses too many iterations.
	Iterations int
	Salt       string
	// Protected reports whether the greeting has i and s: HELLO needs a password hash.
	Protected bool
}

// ParseHi reads the greeting from the first reply of a connection: a simple string
// of the three bytes "HI " and one JSON object, with nothing around it. Unknown
// fields are ignored. It fails if v is missing, if a field is of the wrong type or
// occurs twice, and if there is only one of i and s. The error for an error reply
// wraps a *[ReplyError]. (Not Identified State)
func ParseHi(r Reply) (Hi, error) {
	if err := r.Err(); err != nil {
		return Hi{}, fmt.Errorf("greeting: %w", err)
	}
	hash, found := bytes.CutPrefix(r.Text, []byte("HI "))
	if r.Kind != SimpleString || !found {
		return Hi{}, fmt.Errorf("greeting: expected a simple string that starts with %q, got %s %s",
			"HI ", article(r.Kind), excerpt(r.Text, "without text"))
	}
	if len(hash) == 0 || hash[0] != '{' || hash[len(hash)-1] != '}' {
		return Hi{}, fmt.Errorf("greeting: expected one JSON object after %q, got %s", "HI ", excerpt(hash, "nothing"))
	}
	hi, err := parseHiHash(hash)
	if err != nil {
		return Hi{}, fmt.Errorf("greeting: %w", err)
	}
	return hi, nil
}

func parseHiHash(hash []byte) (hi Hi, err error) {
	all, err := members(hash)
	if err != nil {
		return Hi{}, err
	}
	version, found := all["v"]
	if !found {
		return Hi{}, errors.New("v is missing")
	}
	if hi.Version, err = intValue(version); err != nil {
		return Hi{}, fmt.Errorf("v: %w", err)
	}
	iterations, hasIterations := all["i"]
	salt, hasSalt := all["s"]
	if hasIterations != hasSalt {
		return Hi{}, errors.New("i and s come together, only one is there")
	}
	if !hasSalt {
		return hi, nil
	}
	if hi.Iterations, err = intValue(iterations); err != nil {
		return Hi{}, fmt.Errorf("i: %w", err)
	}
	if hi.Salt, err = stringValue(salt); err != nil {
		return Hi{}, fmt.Errorf("s: %w", err)
	}
	hi.Protected = true
	return hi, nil
}

// Hello is the data of a HELLO. The zero value is that of a producer at an open server.
// (HELLO Command)
type Hello struct {
	// Version is v; 0 stands for [Version].
	Version int
	// PasswordHash is pwdhash, see [PasswordHash]; omitted if empty.
	PasswordHash string

	// Hostname, WorkerID (wid), PID and Labels make the client a consumer. All
	// four are sent if WorkerID is not empty, else none. Connections that share a
	// WorkerID must agree on the other three. Nil Labels are sent as [].
	Hostname string
	WorkerID string
	PID      int
	Labels   []string
}

// Command builds the HELLO line, its fields in the order of the specification's
// examples. Bytes that are not UTF-8 become U+FFFD. (HELLO Command)
func (h Hello) Command() Command {
	h.Version = cmp.Or(h.Version, Version)
	type producer struct {
		PasswordHash string `json:"pwdhash,omitempty"`
		Version      int    `json:"v"`
	}
	type consumer struct {
		Hostname string   `json:"hostname"`
		WorkerID string   `json:"wid"`
		PID      int      `json:"pid"`
		Labels   []string `json:"labels"`
		producer
	}
	var hash any = producer{h.PasswordHash, h.Version}
	if h.WorkerID != "" {
		labels := append([]string{}, h.Labels...)
		hash = consumer{h.Hostname, h.WorkerID, h.PID, labels, producer{h.PasswordHash, h.Version}}
	}
	args, _ := appendJSON(nil, hash) // strings and ints cannot fail
	return Command{Verb: HELLO, Args: args}
}
