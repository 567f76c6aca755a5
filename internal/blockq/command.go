package blockq

import "bytes"

// The verbs of commands.
const (
	VerbJoin  = "join"
	VerbPut   = "put"
	VerbTake  = "take"
	VerbDone  = "done"
	VerbCount = "count"
	VerbPing  = "ping"
	VerbBye   = "bye"
)

// Command is what a client asks of a server.
type Command struct {
	Verb  string
	Name  string // of a client: join
	Queue string // put, take, count
	ID    string // put, done
	Block []byte // put
}

// AppendCommand appends c as a client sends it. It checks nothing.
func AppendCommand(out []byte, c Command) []byte {
	out = append(out, c.Verb...)
	for _, word := range []string{c.Name, c.Queue, c.ID} {
		if word != "" {
			out = append(append(out, ' '), word...)
		}
	}
	if c.Verb == VerbPut {
		return appendBlock(out, len(c.Block), c.Block)
	}
	return append(out, "\r\n"...)
}

// ParseCommand reads the first command in b and returns how many bytes it takes. It
// keeps nothing, and the command's Block aliases b.
//
// The error is [ErrShort] while b is the beginning of a command, and a
// *[SyntaxError] if it is wrong. Then n is the length of the line, or 0 if it is
// unknown where the next command begins.
func ParseCommand(b []byte) (c Command, n int, err error) {
	end := bytes.Index(b[:min(len(b), maxLine+2)], []byte("\r\n"))
	if end < 0 {
		s := scanner{b: b, pos: min(len(b), maxLine)}
		s.lineEnd()
		return Command{}, 0, s.err
	}
	line := scanner{b: b[:end+2]}
	size := line.command(&c)
	line.lineEnd()
	if line.err != nil && c.Verb == VerbPut {
		return Command{}, 0, line.err
	}
	if line.err != nil {
		return Command{}, end + 2, line.err
	}
	block := scanner{b: b, pos: end + 2}
	if c.Verb == VerbPut {
		c.Block = block.block(size)
	}
	if block.err != nil {
		return Command{}, 0, block.err
	}
	return c, block.pos, nil
}

// command reads a line up to its CRLF, and returns the size of the block to follow.
func (s *scanner) command(c *Command) (size int) {
	c.Verb = s.keyword(VerbJoin, VerbPut, VerbTake, VerbDone, VerbCount, VerbPing, VerbBye)
	switch c.Verb {
	case VerbJoin:
		c.Name = s.name("a name")
	case VerbPut:
		c.Queue, c.ID = s.name("a queue"), s.name("an id")
		size = s.number("a size of at most 1048576", MaxBlock)
	case VerbTake, VerbCount:
		c.Queue = s.name("a queue")
	case VerbDone:
		c.ID = s.name("an id")
	}
	return size
}
