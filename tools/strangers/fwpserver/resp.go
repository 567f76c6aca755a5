package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	okReply  = "+OK\r\n"
	nullBulk = "$-1\r\n"
)

func bulk(payload string) string {
	return "$" + strconv.Itoa(len(payload)) + "\r\n" + payload + "\r\n"
}

// bulkOfRunes is what a server sends that counts characters where it should count bytes.
func bulkOfRunes(payload string) string {
	return "$" + strconv.Itoa(utf8.RuneCountInString(payload)) + "\r\n" + payload + "\r\n"
}

// errorf makes an error reply; whatever it quotes must have been made free of line ends by %q.
func (s *server) errorf(format string, args ...any) string {
	if s.variant == 5 {
		return "-EREQ 4711 " + strings.Repeat("this did not work out, please read the manual; ", 8) + "sorry\r\n"
	}
	return "-ERR " + fmt.Sprintf(format, args...) + "\r\n"
}

// write sends a reply, or what belongs to no command when a mutant does so.
func (c *conn) write(data string) {
	c.writes.Lock()
	defer c.writes.Unlock()
	switch {
	case data == "":
	case c.s.variant == 10:
		time.Sleep(150 * time.Millisecond)
		_, _ = c.nc.Write([]byte(data))
	case c.s.variant == 11:
		c.writeSlices(data)
	default:
		_, _ = c.nc.Write([]byte(data))
	}
}

// writeSlices sends three bytes at a time, and the middle of a long reply at once.
func (c *conn) writeSlices(data string) {
	for len(data) > 0 {
		n := min(3, len(data))
		if len(data) > 400 {
			n = len(data) - 200
		}
		if _, err := c.nc.Write([]byte(data[:n])); err != nil {
			return
		}
		data = data[n:]
		time.Sleep(200 * time.Microsecond)
	}
}
