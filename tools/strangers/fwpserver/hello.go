package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// A nonce is what HI asks a client to mix into its password.
type nonce struct {
	salt   string
	rounds int
}

// A worker is what all the connections with one wid have in common.
type worker struct {
	wid   string
	about string // hostname, pid and labels in one canonical text
	seq   int
	conns int
	state string // what the operator wants: "", quiet or terminate
	lost  bool   // only a mutant forgets a living worker

	beatBy *conn // the last BEAT, for a mutant
	beatAt time.Time
}

const (
	quiet     = "quiet"
	terminate = "terminate"
)

func (c *conn) greeting() string {
	s := c.s
	if s.password == "" {
		switch {
		case s.mutant == 17 && s.accepted > 10:
			return "+HI {\"v\":2,\"i\":0,\"s\":\"\"}\r\n"
		case s.variant == 1:
			return "+HI {\"name\": \"stranger\", \"v\": 2, \"features\": [\"json\", {}]}\r\n"
		}
		return "+HI {\"v\":2}\r\n"
	}
	c.nonce = s.newNonce()
	s.nonce = c.nonce
	if s.variant == 1 {
		return fmt.Sprintf("+HI {\"name\": \"stranger\", \"s\": %q, \"i\": %d, \"v\": 2}\r\n", c.nonce.salt, c.nonce.rounds)
	}
	return fmt.Sprintf("+HI {\"v\":2,\"i\":%d,\"s\":%q}\r\n", c.nonce.rounds, c.nonce.salt)
}

func (s *server) newNonce() nonce {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw)
	n, _ := rand.Int(rand.Reader, big.NewInt(2000))
	made := nonce{salt: hex.EncodeToString(raw), rounds: 1000 + int(n.Int64())}
	if s.mutant == 19 {
		sum := sha256.Sum256([]byte(fmt.Sprint(s.now().Unix())))
		made = nonce{salt: hex.EncodeToString(sum[:8]), rounds: 1545}
	}
	return made
}

// hash is the password digest that a client has to present.
func (n nonce) hash(password string) string {
	sum := []byte(password + n.salt)
	for range n.rounds {
		next := sha256.Sum256(sum)
		sum = next[:]
	}
	return hex.EncodeToString(sum)
}

// hello greets a client; only the first success counts.
func (c *conn) hello(arg string) string {
	s := c.s
	if s.mutant == 25 && s.password == "" && arg == "null" {
		c.identified = true
		return okReply
	}
	if c.identified {
		if s.variant == 30 {
			return okReply
		}
		return s.errorf("HELLO was said before")
	}
	fields, err := parseHash(arg)
	if err != nil {
		return s.errorf("HELLO: %v", err)
	}
	if v, _, err := fields.integer("v"); err != nil || v != 2 {
		return s.errorf("HELLO: v must be 2")
	}
	if err := c.checkPassword(fields); err != nil {
		c.identified = s.mutant == 22
		return s.errorf("HELLO: %v", err)
	}
	if err := c.enlist(fields); err != nil {
		return s.errorf("HELLO: %v", err)
	}
	c.identified = true
	return okReply
}

func (c *conn) checkPassword(fields hash) error {
	s := c.s
	if s.password == "" {
		return nil
	}
	if s.mutant == 24 {
		if wid, _, err := fields.text("wid"); err == nil && s.workers[wid] != nil {
			return nil
		}
	}
	given, present, err := fields.text("pwdhash")
	if err != nil || !present {
		return fmt.Errorf("pwdhash is needed")
	}
	made := c.nonce
	if s.mutant == 18 {
		made = s.nonce
	}
	want := made.hash(s.password)
	switch {
	case s.mutant == 20:
		want = strings.TrimLeft(want, "0")
	case s.mutant == 21:
		want = want[:min(len(want), len(given))]
	}
	if !strings.EqualFold(given, want) {
		return fmt.Errorf("wrong password")
	}
	return nil
}

// enlist notes a consumer. A client that names no wid is a producer.
func (c *conn) enlist(fields hash) error {
	s := c.s
	wid, isWorker, err := fields.text("wid")
	if err != nil {
		return err
	}
	about, complete, err := aboutWorker(fields)
	if err != nil || !isWorker {
		return err
	}
	if !complete || wid == "" {
		return fmt.Errorf("a consumer names wid, hostname, pid and labels")
	}
	w := s.workers[wid]
	switch {
	case w == nil:
		s.enlisted++
		w = &worker{wid: wid, about: about, seq: s.enlisted}
		s.workers[wid] = w
	case w.about != about && s.variant != 21:
		return fmt.Errorf("wid is in use by another worker")
	}
	w.conns++
	c.worker = w
	return nil
}

// aboutWorker checks hostname, pid and labels, and tells whether all three are there.
func aboutWorker(fields hash) (about string, complete bool, err error) {
	host, hasHost, err := fields.text("hostname")
	if err != nil {
		return "", false, err
	}
	pid, hasPid, err := fields.integer("pid")
	if err != nil {
		return "", false, err
	}
	labels, hasLabels, err := fields.texts("labels")
	if err != nil {
		return "", false, err
	}
	joined, err := json.Marshal([]any{host, pid, labels})
	return string(joined), hasHost && hasPid && hasLabels, err
}
