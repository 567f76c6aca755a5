package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

const (
	maxLine    = 1 << 20
	maxBlock   = 1 << 20
	maxDiscard = 64 << 20 // a refused block of up to this size is read and thrown away
)

// conn is the connection of one client.
type conn struct {
	s  *server
	nc net.Conn
	br *bufio.Reader
}

func newConn(s *server, nc net.Conn) *conn {
	return &conn{s: s, nc: nc, br: bufio.NewReaderSize(nc, 64<<10)}
}

// loop answers one command after the other until the client leaves.
func (c *conn) loop() {
	for {
		line, err := c.readLine()
		if err != nil {
			return
		}
		if !strings.HasSuffix(line, "\r") {
			c.write(c.clientError(errors.New("a line ends with CR LF")))
			continue
		}
		reply, err := c.handle(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return
		}
		if err := c.write(reply); err != nil {
			return
		}
	}
}

// readLine reads up to the next LF, which it leaves out.
func (c *conn) readLine() (string, error) {
	var line []byte
	for {
		part, err := c.br.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return string(line[:len(line)-1]), nil
		}
		if err != bufio.ErrBufferFull || len(line) > maxLine {
			return "", io.ErrUnexpectedEOF
		}
	}
}

// write sends a reply, in variant 5 in pieces of a few bytes.
func (c *conn) write(reply []byte) error {
	if c.s.variant == 5 {
		for n := 0; n < 30 && len(reply) > 3; n++ {
			if _, err := c.nc.Write(reply[:3]); err != nil {
				return err
			}
			reply = reply[3:]
			time.Sleep(time.Millisecond)
		}
	}
	_, err := c.nc.Write(reply)
	return err
}

// errBlock is a block that does not fit its size; the connection goes on behind it.
var errBlock = errors.New("the block has another size, or more than 1 MiB")

// readBlock reads a block and its CRLF. Any error but errBlock means that the client has left.
func (c *conn) readBlock(size uint64, report bool) ([]byte, error) {
	if size > maxBlock {
		return nil, c.discard(size)
	}
	block := make([]byte, size)
	var err error
	if c.s.mutant == 14 && report {
		block, err = c.readChunks(size)
	} else {
		_, err = io.ReadFull(c.br, block)
	}
	if err != nil {
		return nil, err
	}
	if c.s.mutant == 3 && c.br.Buffered() < 2 {
		return nil, errBlock
	}
	end := make([]byte, 2)
	if _, err := io.ReadFull(c.br, end); err != nil {
		return nil, err
	}
	if string(end) != "\r\n" {
		return nil, c.skipLine(end)
	}
	return block, nil
}

// readChunks reads a block through a buffer of 64 KiB, and forgets to copy what it had.
func (c *conn) readChunks(size uint64) ([]byte, error) {
	buf := make([]byte, 64<<10)
	var chunks [][]byte
	for size > 0 {
		n := min(size, uint64(len(buf)))
		if _, err := io.ReadFull(c.br, buf[:n]); err != nil {
			return nil, err
		}
		chunks = append(chunks, buf[:n])
		size -= n
	}
	return bytes.Join(chunks, nil), nil
}

// skipLine goes on behind the next LF, unless that was the last byte read.
func (c *conn) skipLine(read []byte) error {
	if read[len(read)-1] != '\n' {
		if _, err := c.readLine(); err != nil {
			return err
		}
	}
	return errBlock
}

// discard refuses a block that is too large and reads over it. The refusal is sent first, since the client
// may wait for it; errAnswered tells that it was.
func (c *conn) discard(size uint64) error {
	if err := c.write(c.clientError(errBlock)); err != nil {
		return err
	}
	if size <= maxDiscard {
		if _, err := io.CopyN(io.Discard, c.br, int64(size)); err != nil {
			return err
		}
		if _, err := c.readLine(); err != nil {
			return err
		}
	}
	return errAnswered
}

// errAnswered is a command that needs no further reply.
var errAnswered = errors.New("answered")

// watch tells when the client leaves while a command waits. What comes meanwhile stays in the buffer.
func (c *conn) watch() (gone <-chan struct{}, stop func()) {
	left, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			_, err := c.br.Peek(c.br.Buffered() + 1)
			var ne net.Error
			switch {
			case err == nil:
			case errors.Is(err, bufio.ErrBufferFull), errors.As(err, &ne) && ne.Timeout():
				return
			default:
				close(left)
				return
			}
		}
	}()
	return left, func() {
		c.nc.SetReadDeadline(time.Unix(1, 0))
		<-over
		c.nc.SetReadDeadline(time.Time{})
		if c.s.mutant == 4 {
			c.br.Discard(c.br.Buffered())
		}
	}
}
