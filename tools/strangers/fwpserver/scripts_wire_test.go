package main

import (
	"fmt"
	"strings"
)

// long is n letters.
func long(n int) string { return strings.Repeat("x", n) }

// times repeats steps.
func times(n int, step string) string { return strings.Repeat(step+"\n", n) }

// numbered repeats a step with a number in it.
func numbered(from, to int, step string) string {
	var all strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&all, step+"\n", i)
	}
	return all.String()
}

// Scripts of the mutants in framing, greeting and state.
var wireScripts = []script{
	{number: 1, steps: `
		a>> "INFO\r"
		pause 60ms
		a>> "\n"
		a< bulk`},
	{number: 2, steps: `
		a>> "IN"
		pause 350ms
		a>> "FO\r\n"
		a< bulk`},
	{number: 3, steps: `
		a push j1 "queue":"q","args":["` + long(70000) + `"]
		a get q = j1 {"args":["` + long(70000) + `"]}`},
	{number: 4, steps: `
		a push j1 "args":["` + strings.Repeat(long(1000)+`","`, 300) + `"]
		a> INFO
		a< bulk`},
	{number: 5, steps: `
		a>> "FETCH q\n"
		a< -`},
	{number: 6, steps: `
		a push j1 "queue":"q"
		a get q = j1
		a> ACK {"jid":"%j1"} x
		a< -
		a ack j1`},
	{number: 7, steps: `
		a push j1 "queue":"q","args":["\ud83d\ude00"]
		a get q = j1 {"args":["😀"]}
		a fail j1
		advance 60s
		a get q = j1 {"args":["😀"]}`},
	{number: 8, wait: longWait, steps: `
		meet a b
		a> FETCH
		waiting 1
		b push j1 "args":["é"]
		a< j1 {"args":["é"]}
		a> INFO
		a< bulk`},
	{number: 9, steps: `
		a push j1 "queue":"q1"
		a get q1 q2 = j1
		a get q1 q2 = nil`},
	{number: 10, steps: `
		a get q = nil
		b push j1 "queue":"q"
		a< none`},
	{number: 11, steps: `
		a> PUSH {}
		a< -
		a< none`},
	{number: 12, steps: `
		a> ACK {"jid":"job-1234567890123\nx"}
		a< - or +OK
		a< none`},
	{number: 13, steps: `
		a push j1 "queue":"q","args":["` + long(15000) + `"]
		a get q = j1`},
	{number: 14, steps: `
		a push j1 "queue":"q1","args":["first","first","first"]
		a push j2 "queue":"q2"
		a get q1 = j1
		a get q2 = j2`},
	{number: 15, steps: `
		a> PUSH {"jid":
		a< -`},
	{number: 16, steps: `
		work a W-0123456789
		signal quiet
		a< none
		a> BEAT {"wid":"W-0123456789"}
		a< {"state":"quiet"}`},
	{number: 17, steps: numbered(1, 12, `
		open c%[1]d
		hi c%[1]d {"v":2,"i":null,"s":null}`)},
	{number: 18, steps: `
		open a
		open b
		login a`},
	{number: 19, run: differentSalts},
	{number: 20, run: leadingZero},
	{number: 21, run: shortHash},
	{number: 22, steps: `
		open a
		a> HELLO {"v":2,"pwdhash":"0123"}
		a< -
		a> INFO
		a< - or eof`},
	{number: 23, steps: `
		a push j1 "queue":"größe"
		a> INFO
		a< bulk
		a> INFO
		a< bulk`},
	{number: 24, steps: `
		work a W-0123456789
		open b
		b> HELLO {"v":2,"wid":"W-0123456789","hostname":"h","pid":12,"labels":["go"]}
		b< -`},
	{number: 25, steps: `
		open a
		a> HELLO null
		a< -`},
	{number: 26, steps: `
		work a W-0123456789
		work b W-0123456789
		b> END
		b< +OK or eof
		b< eof
		pause 60ms
		a> BEAT {"wid":"W-0123456789"}
		a< +OK`},
	{number: 27, steps: `
		open a
		a> PUSH {"jid":"%j1","jobtype":"t","args":[]}
		a< -
		b get = nil`},
	{number: 28, steps: times(8, `
		a> NONSENSE
		a< -`) + `
		a> INFO
		a< bulk`},
	{number: 29, steps: `
		a push j1 "queue":"q","reserve_for":60
		a get q = j1
		advance 62s
		a> INFO
		a< bulk`},
	{number: 30, steps: `
		work a W-0123456789
		work b W-0123456789` + times(3, `
		advance 25s
		b> BEAT {"wid":"W-0123456789"}
		b< +OK`) + `
		a> INFO
		a< bulk`},
}

// differentSalts opens some connections at once.
func differentSalts(r *rig) error {
	seen := map[string]bool{}
	for i := range 4 {
		c, err := r.open(fmt.Sprint(i))
		if err != nil {
			return err
		}
		if seen[c.nonce().salt] {
			return fmt.Errorf("salt %d was seen before: %q", i, c.hi)
		}
		seen[c.nonce().salt] = true
	}
	return nil
}

// leadingZero connects until its password hash begins with a zero.
func leadingZero(r *rig) error {
	for i := range 300 {
		c, err := r.open("a")
		if err != nil {
			return err
		}
		if hash := c.nonce().hash(r.cfg.password); hash[0] == '0' {
			if err := r.login(c, ""); err != nil {
				return fmt.Errorf("attempt %d, hash %s: %w", i, hash, err)
			}
			return nil
		}
		_ = c.nc.Close()
	}
	return fmt.Errorf("no hash began with a zero")
}

// shortHash presents only the first ten digits of the right hash.
func shortHash(r *rig) error {
	c, err := r.open("a")
	if err != nil {
		return err
	}
	hash := c.nonce().hash(r.cfg.password)
	if err := c.send(fmt.Sprintf("HELLO {\"v\":2,\"pwdhash\":%q}\r\n", hash[:10])); err != nil {
		return err
	}
	return c.expect(r, "-", patience)
}
