package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// recognize returns the greeting of an FWP server. The error describes what is there instead, or wraps [ErrIterations].
// (Not Identified State)
func recognize(ctx context.Context, nc net.Conn, timeout time.Duration) (conformance.Identity, error) {
	first, err := firstBytes(nc, timeout)
	switch {
	case err == nil && first[0] == '-': // one that is busy, or still reads its store
		return conformance.Identity{}, fmt.Errorf("%w: %s", ErrGreeting,
			text.Escape(firstLine(first[1:min(len(first), excerpt)])))
	case err == nil && looksLikeRESP(first):
		return identity(first)
	case errors.Is(err, errEndless):
		return conformance.Identity{},
			fmt.Errorf("this is not an FWP server: its first line, %q..., %w", first[:excerpt], err)
	case err == nil:
		return conformance.Identity{},
			fmt.Errorf("this is not an FWP server: its first bytes are %q, but FWP servers greet with %q",
				first[:min(len(first), excerpt)], "+HI {")
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
		return provoke(nc, timeout)
	}
	return conformance.Identity{}, fmt.Errorf(
		"this is not an FWP server: it closed the connection without a greeting (%w)", err)
}

const (
	longestGreeting = 64 << 10 // bytes
	longestShown    = 400      // bytes of a greeting in a report
	excerpt         = 80       // bytes of what is not a greeting
)

// errEndless is the error of a first line that is too long.
var errEndless = fmt.Errorf("does not end within %d KiB", longestGreeting>>10)

// firstBytes reads the first line, or the part of it that is sent.
func firstBytes(nc net.Conn, timeout time.Duration) ([]byte, error) {
	if err := nc.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	var all []byte
	buf := make([]byte, 512)
	for {
		n, err := nc.Read(buf)
		all = append(all, buf[:n]...)
		switch {
		case bytes.IndexByte(all, '\n') >= 0:
			return all, nil
		case len(all) > longestGreeting:
			return all, errEndless
		case err != nil && len(all) > 0:
			return all, nil // what was received counts, not the error after it
		case err != nil:
			return nil, err
		}
	}
}

// provoke sends HELLO to a server that does not send first, to find out what it is.
func provoke(nc net.Conn, timeout time.Duration) (conformance.Identity, error) {
	silent := fmt.Errorf("no greeting within %v: FWP servers send it first", timeout)
	if _, err := io.WriteString(nc, "HELLO {\"v\":2}\r\n"); err != nil {
		return conformance.Identity{}, silent
	}
	answer, err := firstBytes(nc, timeout)
	switch {
	case errors.Is(err, errEndless):
		return conformance.Identity{}, fmt.Errorf("%w; the answer to a HELLO %w", silent, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return conformance.Identity{}, fmt.Errorf("%w; no answer to a HELLO either", silent)
	case err != nil:
		return conformance.Identity{}, fmt.Errorf("%w; it closed the connection after a HELLO (%w)", silent, err)
	case !bytes.Contains(answer, []byte("HI ")) && answer[0] != '+': // a Redis server answers -ERR
		return conformance.Identity{}, fmt.Errorf(
			"this is not an FWP server: it sent no greeting, and answered HELLO with %q",
			firstLine(answer[:min(len(answer), excerpt)]))
	}
	id, err := identity(answer)
	id.Greeting = ""
	return id, err
}

// looksLikeRESP reports whether b may be meant as a reply.
func looksLikeRESP(b []byte) bool {
	return len(b) > 0 && utf8.Valid(b) && (strings.IndexByte("+-$:*", b[0]) >= 0 || bytes.Contains(b, []byte(`HI {`)))
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r")
}

func identity(b []byte) (conformance.Identity, error) {
	line := strings.TrimLeft(firstLine(b), "+")
	id := conformance.Identity{
		Greeting:  text.Escape(line[:min(len(line), longestShown)]),
		Protected: strings.Contains(line, `"s"`) && strings.Contains(line, `"i"`),
	}
	// else it is wrong
	if hi, err := fwp.ParseHi(fwp.Reply{Kind: fwp.SimpleString, Text: []byte(line)}); err == nil && hi.Iterations > 0 {
		if err := fwp.CheckIterations(hi.Iterations); err != nil {
			return id, fmt.Errorf("%w: %w", ErrIterations, err)
		}
	}
	return id, nil // the checks evaluate it
}

// ErrIterations means that a protected server asks for a password hash that is not computed.
var ErrIterations = errors.New("no client can log in")

// ErrGreeting means that the server takes connections, and no clients.
var ErrGreeting = errors.New("the server greeted with an error")

// Authenticate tries the password on a protected server. The only errors are
// [conformance.ErrDeclined] and that of an interrupted ctx. It accepts a server that takes a
// wrong hash of the password and not the right one, and one with an answer that
// is neither OK nor an error: the checks report what is wrong with them.
// (Required Fields for Protected Server)
func Authenticate(ctx context.Context, t play.Target, password string, timeout time.Duration) error {
	player := &play.Player{Target: t, Password: password, Timeout: timeout}
	var first string
	for _, hash := range []string{"$pwdhash", "$pwdhash.fewer", "$pwdhash.more", "$pwdhash.hex"} {
		script, err := scenarios.Parse(fwpscript.Dialect{}, "authenticate", []byte(fmt.Sprintf(
			"S: +HI {\"s\":string}\nC: HELLO {\"v\":2,\"pwdhash\":\"%s\"}\nS: +OK\n", hash)))
		if err != nil {
			return fmt.Errorf("authenticate: %w", err)
		}
		run := player.Play(ctx, script, "fwp-authenticate")
		answer := run.Results[len(run.Results)-1]
		if answer.Outcome == play.Matched {
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
	return fmt.Errorf("%w: it answered %s", conformance.ErrDeclined, first)
}
