package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// longestGap is the longest time between two BEATs that the specification allows, ten times as fast.
const longestGap = 6 * time.Second

// shortestGap is the shortest one, with a little room for the network.
const shortestGap = 450 * time.Millisecond

// once finds jobs that were not reported by exactly one ACK or FAIL. Without names it takes all that were handed out.
func once(names ...string) func(*server) string {
	return func(s *server) string {
		if len(names) == 0 {
			names = handedOut(s)
		}
		for _, name := range names {
			count := 0
			for _, e := range append(s.sent("ACK"), s.sent("FAIL")...) {
				if strings.Contains(e.text, fmt.Sprintf("%q", name)) {
					count++
				}
			}
			if count != 1 {
				return fmt.Sprintf("job %s has %d reports", name, count)
			}
		}
		return ""
	}
}

// handedOut is the jids of all jobs that the server gave away.
func handedOut(s *server) []string {
	var names []string
	for _, e := range s.all() {
		if found := regexp.MustCompile(`\{"jid":"([^"]*)"`).FindStringSubmatch(e.text); e.side == "S" && found != nil {
			names = append(names, found[1])
		}
	}
	return names
}

// helloFirst finds connections whose first line is no HELLO.
func helloFirst(s *server) string {
	seen := map[int]bool{}
	for _, e := range s.all() {
		if e.side == "C" && !seen[e.conn] && !strings.HasPrefix(e.text, "HELLO {") {
			return fmt.Sprintf("connection %d begins with %q", e.conn, e.text)
		}
		seen[e.conn] = seen[e.conn] || e.side == "C"
	}
	return ""
}

// greeted is the fields of a HELLO with their right types.
type greeted struct {
	Version  int      `json:"v"`
	Hostname string   `json:"hostname"`
	WID      string   `json:"wid"`
	PID      int      `json:"pid"`
	Labels   []string `json:"labels"`
	Hash     string   `json:"pwdhash"`
}

// hellos reads all HELLO lines by their connections.
func hellos(s *server) (map[int]greeted, error) {
	all := map[int]greeted{}
	for _, e := range s.sent("HELLO ") {
		var g greeted
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e.text, "HELLO ")), &g); err != nil {
			return nil, fmt.Errorf("%w in %q", err, e.text)
		}
		all[e.conn] = g
	}
	return all, nil
}

// oneIdentity finds connections of one wid that differ, and HELLOs with wrong or missing fields.
func oneIdentity(s *server) string {
	all, err := hellos(s)
	if err != nil {
		return err.Error()
	}
	first := map[string]string{}
	for n, g := range all {
		if g.Version != 2 || g.Hostname == "" || g.WID == "" || g.PID == 0 || g.Labels == nil {
			return fmt.Sprintf("connection %d: incomplete HELLO %+v", n, g)
		}
		own := fmt.Sprintf("%q %d %q", g.Hostname, g.PID, g.Labels)
		if other, found := first[g.WID]; found && other != own {
			return fmt.Sprintf("wid %s belongs to %s and to %s", g.WID, own, other)
		}
		first[g.WID] = own
	}
	return ""
}

// rightHash finds wrong password hashes.
func rightHash(password string) func(*server) string {
	return func(s *server) string {
		all, err := hellos(s)
		if err != nil || len(all) == 0 {
			return fmt.Sprintf("no HELLO: %v", err)
		}
		for n, g := range all {
			var hi greeting
			s.mu.Lock()
			text := strings.TrimPrefix(s.hi[n], "+HI ")
			s.mu.Unlock()
			if err := json.Unmarshal([]byte(text), &hi); err != nil {
				return err.Error()
			}
			sum := sha256.Sum256([]byte(password + *hi.Salt))
			for range *hi.Iterations - 1 {
				sum = sha256.Sum256(sum[:])
			}
			if want := fmt.Sprintf("%x", sum); g.Hash != want {
				return fmt.Sprintf("connection %d: pwdhash %s, not %s", n, g.Hash, want)
			}
		}
		return ""
	}
}

// beatGaps finds BEATs that are too near or too far from each other, until the scene or the process is over.
func beatGaps(s *server) string {
	var before time.Time
	for _, e := range s.all() {
		if e.side != "x" && (e.side != "C" || !strings.HasPrefix(e.text, "BEAT")) {
			continue
		}
		gap := e.at.Sub(before)
		switch {
		case !before.IsZero() && gap > longestGap:
			return fmt.Sprintf("no BEAT for %v", gap)
		case e.side == "x":
			return ""
		case gap < shortestGap:
			return fmt.Sprintf("%q only %v after the BEAT before", e.text, gap)
		}
		before = e.at
	}
	return ""
}

// lineSyntax is all that a consumer may send.
var lineSyntax = regexp.MustCompile(`^((HELLO|ACK|FAIL|BEAT) (\{.*\})|FETCH( [^ ]+)*|END)\r\n$`)

// rightLines finds lines with a wrong syntax, early ones, and ones after END.
func rightLines(s *server) string {
	ended := map[int]bool{}
	for _, e := range s.all() {
		if e.side == "!" || e.side == "C" && ended[e.conn] {
			return fmt.Sprintf("too early or too late: %q", e.text)
		}
		if e.side != "C" {
			continue
		}
		parts := lineSyntax.FindStringSubmatch(e.text)
		if parts == nil || parts[3] != "" && !json.Valid([]byte(parts[3])) {
			return fmt.Sprintf("wrong syntax: %q", e.text)
		}
		ended[e.conn] = e.text == "END\r\n"
	}
	return ""
}

// noLateFetch finds FETCHes after a change of state. One that crosses the answer on the way is no fault.
func noLateFetch(s *server) string {
	var change time.Time
	for _, e := range s.all() {
		if e.side == "S" && change.IsZero() && strings.Contains(e.text, `"state"`) {
			change = e.at
		}
		late := !change.IsZero() && e.at.Sub(change) > 500*time.Millisecond
		if e.side == "C" && strings.HasPrefix(e.text, "FETCH") && late {
			return fmt.Sprintf("FETCH %v after the change of state", e.at.Sub(change))
		}
	}
	return ""
}

// goodEnd wants an END on each connection that the server did not close, and exit code 0.
func goodEnd(s *server) string {
	last := map[int]string{}
	cut := map[int]bool{}
	code := ""
	for _, e := range s.all() {
		switch {
		case e.side == "C":
			last[e.conn] = e.text
		case e.text == cutMark:
			cut[e.conn] = true
		case e.side == "x" && strings.HasPrefix(e.text, "exit"):
			code = e.text
		}
	}
	for n, line := range last {
		if line != "END\r\n" && !cut[n] {
			return fmt.Sprintf("connection %d ends with %q", n, line)
		}
	}
	if code != "exit 0" {
		return code
	}
	return ""
}

// lawful is the sum of all that a right worker keeps in a scene without other faults.
func lawful(s *server) string {
	judges := []func(*server) string{
		helloFirst, oneIdentity, rightLines, beatGaps, noLateFetch, once(), goodEnd,
	}
	for _, judge := range judges {
		if fault := judge(s); fault != "" {
			return fault
		}
	}
	return ""
}
