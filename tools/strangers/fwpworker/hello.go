package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
)

// protocolVersion is the only version that the specification knows.
const protocolVersion = 2

// identity is what every connection of this process tells the server about the worker.
type identity struct {
	hostname string
	wid      string
	pid      int

	mu     sync.Mutex
	labels []string
	hash   string
}

// newIdentity makes the identity of this process, with a random wid.
func newIdentity() (*identity, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	id := &identity{hostname: hostname, wid: hex.EncodeToString(random[:]), pid: os.Getpid()}
	id.labels = []string{"golang"}
	if mutant == 4 {
		sum := sha256.Sum256([]byte(hostname))
		id.wid = hex.EncodeToString(sum[:8])
	}
	if variant == 5 {
		id.labels = []string{}
	}
	return id, nil
}

// greeting is the JSON of the server's HI. Fields that are absent stay nil.
type greeting struct {
	Version    int     `json:"v"`
	Iterations *int    `json:"i"`
	Salt       *string `json:"s"`
}

// parseHI reads the server's first line.
func parseHI(line string) (greeting, error) {
	var hi greeting
	text, found := strings.CutPrefix(line, "+HI ")
	if !found {
		return hi, fmt.Errorf("the server did not say HI: %q", line)
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if mutant == 6 {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(&hi); err != nil {
		return hi, fmt.Errorf("the server's HI cannot be read: %w", err)
	}
	if hi.Version > protocolVersion {
		log.Printf("the server speaks version %d of the protocol: please upgrade this worker", hi.Version)
	}
	return hi, nil
}

// hello is the HELLO line that answers a HI.
func (id *identity) hello(hi greeting, password string) (string, error) {
	id.mu.Lock()
	defer id.mu.Unlock()
	version := protocolVersion
	if mutant == 1 {
		version = hi.Version
	}
	var pid any = id.pid
	if mutant == 2 {
		pid = strconv.Itoa(id.pid)
	}
	fields := []field{
		{"hostname", id.hostname}, {"wid", id.wid}, {"pid", pid}, {"labels", id.labels}, {"v", version},
	}
	if mutant == 3 {
		id.labels = append(id.labels, "golang")
	}
	if variant == 4 {
		fields = append(fields, field{"user_agent", "fwpworker/1.0"}, field{"threads", 5})
	}
	if hi.Iterations != nil && hi.Salt != nil {
		if *hi.Iterations < 1 {
			return "", errors.New("the server asks for less than one round of hashing")
		}
		fields = append(fields, field{"pwdhash", id.passwordHash(password, *hi.Salt, *hi.Iterations)})
	}
	return "HELLO " + object(fields...), nil
}

// passwordHash is the hash for this connection's salt.
func (id *identity) passwordHash(password, salt string, rounds int) string {
	if mutant == 10 && id.hash != "" {
		return id.hash
	}
	id.hash = hashPassword(password, salt, rounds)
	return id.hash
}

// hashPassword applies SHA-256 to password and salt, as often as rounds says, and writes the digest in hexadecimal.
func hashPassword(password, salt string, rounds int) string {
	data := []byte(password + salt)
	for range rounds {
		sum := sha256.Sum256(data)
		data = sum[:]
		if mutant == 8 {
			data = []byte(hex.EncodeToString(sum[:]))
		}
	}
	if mutant == 8 {
		return string(data)
	}
	return hex.EncodeToString(data)
}
