package fakes

import (
	"bufio"
	"bytes"
	"errors"
	"unicode/utf8"
)

// readLine returns the next line without its end, and why it is not well-formed, nil if
// it is. A line that is too long is read to its end and discarded. With an error it
// returns the begin of a line that has no end. The line is valid until the next read.
// (Client Protocol Sender)
func (c *conn) readLine() (line []byte, refusal *Refusal, err error) {
	tooLong := false
	line, err = c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, tooLong, err = c.readLong(line)
	}
	if err != nil {
		return line, nil, err
	}
	if tooLong || len(line) > c.s.cfg.MaxLine+2 {
		return nil, c.s.lengthRefusal(), nil
	}
	line, refusal = checkLine(line[:len(line)-1], c.s.cfg.Extension == Faktory)
	return line, refusal, nil
}

func (s *Server) lengthRefusal() *Refusal {
	if s.cfg.MaxUnfinished == 0 {
		return refuse(AboutLength, "the line is longer than %d bytes", s.cfg.MaxLine)
	}
	return refuse(AboutLength, "the line is longer than %d bytes, or the connections have more than %d bytes of "+
		"unfinished lines", s.cfg.MaxLine, s.cfg.MaxUnfinished)
}

// checkLine removes the CR, which may be missing if allowsLF, and returns why the rest is not well-formed.
func checkLine(line []byte, allowsLF bool) ([]byte, *Refusal) {
	last := len(line) - 1
	switch {
	case last >= 0 && line[last] == '\r':
		line = line[:last]
	case !allowsLF:
		return line, refuse(AboutLineEnd, "a command ends with CRLF, not with LF alone")
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		return line, refuse(AboutLineEnd, "a command must not hold a CR")
	}
	if !utf8.Valid(line) {
		return line, refuse(AboutUTF8, "a command must be valid UTF-8")
	}
	return line, nil
}

// readLong continues to read a line that is longer than the buffer. A line that is too
// long is not kept, nor one that exceeds what all connections may keep.
func (c *conn) readLong(start []byte) (line []byte, isTooLong bool, err error) {
	line = bytes.Clone(start)
	size := 0
	defer func() { c.s.cfg.Memory.unfinishedBytes.Add(-int64(size)) }()
	for {
		part, err := c.in.ReadSlice('\n')
		size += len(part)
		all := c.s.cfg.Memory.unfinishedBytes.Add(int64(len(part)))
		limit := c.s.cfg.MaxUnfinished
		isTooLong = isTooLong || len(line)+len(part) > c.s.cfg.MaxLine+2 || limit > 0 && all > int64(limit)
		if isTooLong {
			line = nil
			c.s.cfg.Memory.unfinishedBytes.Add(-int64(size))
			size = 0
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, isTooLong, err
		}
	}
}

// tap reads the bytes of the client and shows them to the hook.
type tap struct {
	c    *conn
	rest []byte // bytes after the hook that are not read yet
	err  error
}

func (t *tap) Read(p []byte) (int, error) {
	if t.c.s.cfg.Hook == nil {
		return t.c.nc.Read(p)
	}
	for len(t.rest) == 0 && t.err == nil {
		t.fill(p)
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	if n > 0 {
		return n, nil
	}
	err := t.err
	t.err = nil
	return 0, err
}

func (t *tap) fill(p []byte) {
	n, err := t.c.nc.Read(p)
	t.err = err
	if n == 0 {
		return
	}
	e := Event{Conn: &t.c.Conn, Bytes: p[:n]}
	t.c.s.runHooks(Received, &e)
	if !t.c.delay(&e) {
		return
	}
	t.rest = bytes.Clone(e.Bytes)
}
