package main

import (
	"bytes"
	"time"
)

// A line is one command as it came, without its line end.
type line struct {
	text    string
	bare    bool // ended in LF without CR
	tooLong bool
}

const (
	sizeLimit = 512 << 10 // only for the variant that refuses long lines
	oldBuffer = 256 << 10 // only for the mutant that breaks long lines in two
)

// read cuts the stream into lines until the client leaves.
func (c *conn) read() {
	defer close(c.lines)
	defer close(c.gone)
	s := c.s
	var held []byte
	chunk := make([]byte, 32<<10)
	last := time.Now()
	for {
		n, err := c.nc.Read(chunk)
		if err != nil {
			return
		}
		if s.mutant == 2 && time.Since(last) > 250*time.Millisecond {
			held = held[:0]
		}
		last = time.Now()
		if s.mutant == 1 && chunk[0] == '\n' && bytes.HasSuffix(held, []byte("\r")) {
			held = held[:len(held)-1]
		}
		held = append(held, chunk[:n]...)
		held = c.cutLines(held)
		if s.mutant == 4 && len(held) > oldBuffer {
			c.lines <- line{text: string(held[:oldBuffer])}
			held = held[oldBuffer:]
		}
	}
}

// cutLines passes on the whole lines in held and returns what is left.
func (c *conn) cutLines(held []byte) []byte {
	for {
		end := bytes.IndexByte(held, '\n')
		if end < 0 {
			return held
		}
		text, crlf := bytes.CutSuffix(held[:end], []byte("\r"))
		l := line{text: string(text), bare: !crlf}
		if c.s.variant == 27 && len(text) > sizeLimit {
			l = line{tooLong: true}
		}
		c.lines <- l
		held = append(held[:0:0], held[end+1:]...)
	}
}
