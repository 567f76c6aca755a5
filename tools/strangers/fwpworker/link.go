package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// replyTimeout is how long a link waits for an answer before it gives the connection up.
const replyTimeout = 60 * time.Second

// errEnded is what a link returns after END.
var errEnded = errors.New("the connection was ended")

// link is a long-lived connection that is opened when it is first needed and again after it was lost.
// It carries one command at a time.
type link struct {
	cfg *config
	id  *identity

	mu      sync.Mutex
	conn    net.Conn
	in      *bufio.Reader
	greeted bool   // a session existed before
	ended   bool   // END was sent
	ahead   bool   // the next FETCH is on the wire already
	report  string // the last report that was answered
	parting string // what is sent after END
}

// do sends one command and waits for its answer. An error means that the connection is lost, not that the
// server refused the command.
func (l *link) do(line string) (reply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return reply{}, errEnded
	}
	if l.conn == nil {
		if err := l.open(); err != nil {
			l.drop()
			return reply{}, err
		}
	}
	r, err := l.exchange(line)
	if err != nil {
		l.drop()
	}
	return r, err
}

// exchange writes a command on the open connection and reads the answer.
func (l *link) exchange(line string) (reply, error) {
	if l.ahead && strings.HasPrefix(line, "FETCH") {
		l.ahead = false
		return readReply(l.in)
	}
	if err := l.write(line + "\r\n"); err != nil {
		return reply{}, err
	}
	l.ahead = strings.Contains(line, "\r\nFETCH")
	return readReply(l.in)
}

// fetchPending says whether a FETCH was sent whose answer no client has read.
func (l *link) fetchPending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ahead
}

// write sends bytes and sets the time by which the answer must be there.
func (l *link) write(text string) error {
	if err := l.conn.SetDeadline(time.Now().Add(replyTimeout)); err != nil {
		return err
	}
	if variant == 15 {
		return l.writePieces(text)
	}
	_, err := l.conn.Write([]byte(text))
	return err
}

// writePieces sends the same bytes in many small segments.
func (l *link) writePieces(text string) error {
	for len(text) > 0 {
		n := min(len(text), 5)
		if _, err := l.conn.Write([]byte(text[:n])); err != nil {
			return err
		}
		text = text[n:]
		time.Sleep(time.Millisecond)
	}
	return nil
}

// open connects, waits for HI and says HELLO.
func (l *link) open() error {
	conn, err := net.DialTimeout("tcp", l.cfg.address, 5*time.Second)
	if err != nil {
		return err
	}
	l.conn, l.in, l.ahead = conn, bufio.NewReader(conn), false
	if err := conn.SetDeadline(time.Now().Add(replyTimeout)); err != nil {
		return err
	}
	line, err := readLine(l.in)
	if err != nil {
		return err
	}
	hi, err := parseHI(line)
	if err != nil {
		return err
	}
	if mutant == 5 && l.greeted {
		return nil
	}
	hello, err := l.id.hello(hi, l.cfg.password)
	if err != nil {
		return err
	}
	r, err := l.exchange(hello)
	if err != nil {
		return err
	}
	if r.failed() && mutant != 7 {
		return fmt.Errorf("the server declined HELLO: %s", r.text)
	}
	if mutant == 26 && l.greeted && l.report != "" {
		_, err = l.exchange(l.report)
	}
	l.greeted = true
	return err
}

// drop forgets a lost connection.
func (l *link) drop() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
	l.conn = nil
}

// remember keeps the last report.
func (l *link) remember(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report = line
}

// end says END, waits shortly for the OK that some servers send, and closes.
func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	if l.conn == nil {
		return
	}
	defer l.drop()
	command := "END\r\n"
	if mutant == 11 {
		command = "END\n"
	}
	if l.write(command) != nil || variant == 14 {
		return
	}
	if mutant == 39 && l.parting != "" {
		_ = l.write(l.parting + "\r\n")
	}
	_ = l.conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = readReply(l.in)
}
