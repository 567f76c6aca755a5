package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A rig runs one script against one server in this process. Scripts move the server's clock, so
// that nothing here has to wait for minutes.
type rig struct {
	cfg     config
	server  *server
	born    time.Time
	clients map[string]*client
}

// A client is one TCP connection of a script.
type client struct {
	nc net.Conn
	in *bufio.Reader
	hi string
}

const (
	testWait = 400 * time.Millisecond
	longWait = 2 * time.Second
	patience = 5 * time.Second
	silence  = 120 * time.Millisecond
)

func newRig(cfg config) (*rig, error) {
	r := &rig{cfg: cfg, born: time.Now(), clients: map[string]*client{}}
	var err error
	r.server, err = newServer(cfg, "127.0.0.1:0")
	return r, err
}

func (r *rig) close() error {
	for _, c := range r.clients {
		_ = c.nc.Close()
	}
	return r.server.stop()
}

func (r *rig) now() time.Time {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.server.now()
}

func (r *rig) advance(d time.Duration) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.server.shift += d
	r.server.sweep()
}

// untilWaiting looks into the server until so many FETCHes wait.
func (r *rig) untilWaiting(count string) error {
	want, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		waiters := map[*waiter]bool{}
		r.server.mu.Lock()
		for _, list := range r.server.store.waiters {
			for _, w := range list {
				waiters[w] = true
			}
		}
		r.server.mu.Unlock()
		if len(waiters) >= want {
			return nil
		}
	}
	return fmt.Errorf("no %d FETCHes wait", want)
}

// restart stops the server in order and starts it again with the same folder and clock.
func (r *rig) restart() error {
	shift := r.server.shift
	if err := r.close(); err != nil {
		return err
	}
	clear(r.clients)
	var err error
	if r.server, err = newServer(r.cfg, "127.0.0.1:0"); err != nil {
		return err
	}
	r.advance(shift)
	return nil
}

// open connects and reads HI.
func (r *rig) open(name string) (*client, error) {
	nc, err := net.Dial("tcp", r.server.address())
	if err != nil {
		return nil, err
	}
	c := &client{nc: nc, in: bufio.NewReader(nc)}
	r.clients[name] = c
	hi, err := c.reply(patience)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(hi, "+HI {") {
		return nil, fmt.Errorf("want HI, got %q", hi)
	}
	c.hi = strings.TrimSuffix(hi[len("+HI "):], "\r\n")
	return c, nil
}

// get finds a client of the script; an unknown one becomes a consumer of its own.
func (r *rig) get(name string) (*client, error) {
	if c := r.clients[name]; c != nil {
		return c, nil
	}
	return r.work(name, "worker-"+name+"-0123456789")
}

func (r *rig) work(name, wid string) (*client, error) {
	return r.greet(name, fmt.Sprintf(`"wid":%q,"hostname":"h","pid":12,"labels":["go"],`, wid))
}

// greet opens a connection and says HELLO with some more fields.
func (r *rig) greet(name, fields string) (*client, error) {
	c, err := r.open(name)
	if err != nil {
		return nil, err
	}
	return c, r.login(c, fields)
}

func (r *rig) login(c *client, fields string) error {
	if r.cfg.password != "" {
		fields += fmt.Sprintf(`"pwdhash":%q,`, c.nonce().hash(r.cfg.password))
	}
	if err := c.send("HELLO {" + fields + `"v":2}` + "\r\n"); err != nil {
		return err
	}
	return c.expect(r, "+OK", patience)
}

func (c *client) nonce() nonce {
	fields, err := parseHash(c.hi)
	if err != nil {
		return nonce{}
	}
	salt, _, _ := fields.text("s")
	rounds, _, _ := fields.integer("i")
	return nonce{salt: salt, rounds: int(rounds)}
}

func (c *client) send(data string) error {
	_, err := c.nc.Write([]byte(data))
	return err
}

// reply reads one reply, with all its bytes. What is no RESP is an error that shows the bytes.
func (c *client) reply(within time.Duration) (string, error) {
	_ = c.nc.SetReadDeadline(time.Now().Add(within))
	head, err := c.line()
	if err != nil || head[0] != '$' {
		return head, err
	}
	size, err := strconv.Atoi(head[1 : len(head)-2])
	if err != nil || size < -1 {
		return head, fmt.Errorf("no length: %q", head)
	}
	if size == -1 {
		return head, nil
	}
	body := make([]byte, size+2)
	if n, err := io.ReadFull(c.in, body); err != nil {
		return head, fmt.Errorf("bulk string ends early after %q: %w", shorten(string(body[:n])), err)
	}
	if !bytes.HasSuffix(body, []byte("\r\n")) {
		return head, fmt.Errorf("length %d does not fit: %q", size, shorten(string(body)))
	}
	return head + string(body), nil
}

func (c *client) line() (string, error) {
	head, err := c.in.ReadString('\n')
	if err != nil {
		return head, err
	}
	if !strings.HasSuffix(head, "\r\n") || strings.ContainsAny(head[:len(head)-2], "\r\n") {
		return head, fmt.Errorf("no RESP line: %q", head)
	}
	if !strings.Contains("+-$*:", head[:1]) {
		return head, fmt.Errorf("no RESP type: %q", head)
	}
	return head, nil
}

// expect reads one reply and compares it with a pattern, or with several that " or " parts.
func (c *client) expect(r *rig, pattern string, within time.Duration) error {
	wanted := strings.Split(pattern, " or ")
	if pattern == "none" {
		within = silence
	}
	got, err := c.reply(within)
	for _, want := range wanted {
		switch {
		case want == "eof" && err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && got == "":
			return nil
		case want == "none" && errors.Is(err, os.ErrDeadlineExceeded) && got == "":
			return nil
		case err == nil && r.fits(got, want):
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("want %s, got %q: %w", shorten(pattern), shorten(got), err)
	}
	return fmt.Errorf("want %s, got %q", shorten(pattern), shorten(got))
}

func shorten(text string) string {
	if len(text) > 300 {
		return text[:200] + " ... " + text[len(text)-80:]
	}
	return text
}
