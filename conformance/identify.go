package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// Identity is what a server shows of itself at the start.
type Identity struct {
	Greeting  string // the first line that came, escaped, without its end; empty if HI only came after a HELLO
	Protected bool   // it asks for a password
}

// Identify looks whether something that speaks FWP answers at a target, before
// any check runs. It is lenient: a greeting that is somehow wrong is for the
// checks to judge. The error says what is there instead, and what to do. It
// waits for each answer as long as the timeout says. (Not Identified State)
func Identify(ctx context.Context, t scenarios.Target, timeout time.Duration) (Identity, error) {
	dialing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	nc, err := t.Dial(dialing)
	if err != nil {
		return Identity{}, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	first, err := firstBytes(nc, timeout)
	switch {
	case err == nil && looksLikeRESP(first):
		return identity(first), nil
	case err == nil:
		return Identity{}, fmt.Errorf("this is not an FWP server: its first bytes are %s, where FWP servers greet with %q",
			strconv.Quote(string(first)), "+HI {")
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
		return provoke(nc, timeout)
	case ctx.Err() != nil:
		return Identity{}, context.Cause(ctx)
	}
	return Identity{}, fmt.Errorf("this is not an FWP server: it closed the connection at once without a greeting (%w)", err)
}

// firstBytes reads what comes first: a line, or what there is of it.
func firstBytes(nc net.Conn, timeout time.Duration) ([]byte, error) {
	if err := nc.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	const enough = 400
	var all []byte
	buf := make([]byte, 512)
	for {
		n, err := nc.Read(buf)
		all = append(all, buf[:n]...)
		switch {
		case bytes.IndexByte(all, '\n') >= 0, len(all) > enough:
			return all[:min(len(all), enough)], nil
		case err != nil && len(all) > 0:
			return all, nil // what came counts, not how it ended
		case err != nil:
			return nil, err
		}
	}
}

// provoke says HELLO to a server that does not speak first, to see what it is.
func provoke(nc net.Conn, timeout time.Duration) (Identity, error) {
	silent := fmt.Errorf("no greeting came within %v: FWP servers speak first", timeout)
	if _, err := io.WriteString(nc, "HELLO {\"v\":2}\r\n"); err != nil {
		return Identity{}, silent
	}
	answer, err := firstBytes(nc, timeout)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Identity{}, fmt.Errorf("%w; a HELLO got no answer either", silent)
	case err != nil:
		return Identity{}, fmt.Errorf("%w; after a HELLO it ended the connection (%w)", silent, err)
	case !bytes.Contains(answer, []byte("HI ")) && answer[0] != '+': // a redis server says -ERR
		return Identity{}, fmt.Errorf("this is not an FWP server: it kept silent, and answered HELLO with %s", strconv.Quote(firstLine(answer)))
	}
	id := identity(answer)
	id.Greeting = ""
	return id, nil
}

// looksLikeRESP accepts whatever may be meant as a reply.
func looksLikeRESP(b []byte) bool {
	return len(b) > 0 && utf8.Valid(b) && (strings.IndexByte("+-$:*", b[0]) >= 0 || bytes.Contains(b, []byte(`HI {`)))
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r")
}

func identity(b []byte) Identity {
	line := firstLine(b)
	quoted := strconv.Quote(strings.TrimLeft(line, "+"))
	return Identity{
		Greeting:  strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`),
		Protected: strings.Contains(line, `"s"`) && strings.Contains(line, `"i"`),
	}
}

// ErrDeclined is the answer of a protected server that takes no hash of the
// password at hand.
var ErrDeclined = errors.New("the server declines the password")

// Authenticate tries the password on a protected server. The only error is
// [ErrDeclined], beside that of an interrupted ctx. A server that takes a wrong
// hash of the password and not the right one, and one whose answer is neither
// yes nor no, are let through: the checks will say what is wrong with them.
// (Required Fields for Protected Server)
func Authenticate(ctx context.Context, t scenarios.Target, password string, timeout time.Duration) error {
	player := &scenarios.Player{Target: t, Password: password, Timeout: timeout}
	var first string
	for _, hash := range []string{"$pwdhash", "$pwdhash.fewer", "$pwdhash.more", "$pwdhash.hex"} {
		script, err := scenarios.Parse(fwpdialect.Dialect{}, "authenticate", []byte(fmt.Sprintf(
			"S: +HI {\"s\":string}\nC: HELLO {\"v\":2,\"pwdhash\":\"%s\"}\nS: +OK\n", hash)))
		if err != nil {
			return fmt.Errorf("authenticate: %w", err)
		}
		run := player.Play(ctx, script, "fwp-authenticate")
		answer := run.Results[len(run.Results)-1]
		if answer.Outcome == scenarios.Matched {
			return nil
		}
		if first == "" {
			first = answer.Got
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !strings.HasPrefix(answer.Got, "-") && answer.Ending == scenarios.Open {
			return nil
		}
	}
	return fmt.Errorf("%w: it answered %s", ErrDeclined, first)
}
