package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
)

const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
	maxFrame    = 1 << 30
)

// link is one ZMTP 3 connection with the NULL mechanism.
type link struct {
	nc      net.Conn
	br      *bufio.Reader
	mutant  int
	variant int
	write   sync.Mutex
}

// greet exchanges greetings and READY, and returns the identity that the peer announces.
func (l *link) greet() (string, error) {
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10], greeting[11] = 0xff, 0x7f, 3, 1
	if l.variant == 12 {
		greeting[11] = 0
	}
	copy(greeting[12:], "NULL")
	if _, err := l.nc.Write(greeting); err != nil {
		return "", err
	}
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(l.br, theirs); err != nil {
		return "", err
	}
	if theirs[0] != 0xff || theirs[9]&1 == 0 || theirs[10] < 3 || string(theirs[12:17]) != "NULL\x00" {
		return "", errors.New("not a peer of ZMTP 3 with NULL")
	}
	ready := property([]byte("\x05READY"), "Socket-Type", "ROUTER")
	if l.variant != 12 {
		ready = property(ready, "Identity", "")
	}
	if err := l.send(flagCommand, ready); err != nil {
		return "", err
	}
	flags, body, err := l.frame()
	if err != nil {
		return "", err
	}
	if flags&flagCommand == 0 || len(body) < 6 || string(body[:6]) != "\x05READY" {
		return "", errors.New("READY is expected")
	}
	return l.properties(body[6:])
}

// property appends one property of a READY.
func property(to []byte, name, value string) []byte {
	to = append(to, byte(len(name)))
	to = append(to, name...)
	to = binary.BigEndian.AppendUint32(to, uint32(len(value)))
	return append(to, value...)
}

// properties reads those of the peer: its socket has to go with a ROUTER.
func (l *link) properties(body []byte) (identity string, err error) {
	kind := ""
	for len(body) > 0 {
		n := int(body[0])
		if len(body) < 1+n+4 {
			return "", errors.New("a property is cut")
		}
		name, size := string(body[1:1+n]), int(binary.BigEndian.Uint32(body[1+n:]))
		body = body[5+n:]
		if size < 0 || len(body) < size {
			return "", errors.New("a property is cut")
		}
		switch name {
		case "Socket-Type":
			kind = string(body[:size])
		case "Identity":
			identity = string(body[:size])
		}
		body = body[size:]
	}
	if !slices.Contains([]string{"DEALER", "REQ", "ROUTER"}, kind) {
		return "", fmt.Errorf("a socket %q does not go with ROUTER", kind)
	}
	return identity, nil
}

// send writes one frame.
func (l *link) send(flags byte, body []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	return l.put(flags, body)
}

func (l *link) put(flags byte, body []byte) error {
	var head []byte
	if len(body) > 255 {
		head = binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body)))
	} else {
		head = []byte{flags, byte(len(body))}
	}
	if l.variant == 15 {
		for i := range head {
			if _, err := l.nc.Write(head[i : i+1]); err != nil {
				return err
			}
		}
		head = nil
	}
	_, err := l.nc.Write(append(head, body...))
	return err
}

// sendMessage writes the frames of a message.
func (l *link) sendMessage(frames []string) error {
	l.write.Lock()
	defer l.write.Unlock()
	for i, f := range frames {
		flags := byte(flagMore)
		if i == len(frames)-1 {
			flags = 0
		}
		if err := l.put(flags, []byte(f)); err != nil {
			return err
		}
	}
	return nil
}

// frame reads one frame.
func (l *link) frame() (flags byte, body []byte, err error) {
	if flags, err = l.br.ReadByte(); err != nil {
		return 0, nil, err
	}
	if l.mutant == 1 && l.br.Buffered() == 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	size := make([]byte, 1)
	if flags&flagLong != 0 {
		size = make([]byte, 8)
	}
	if _, err := io.ReadFull(l.br, size); err != nil {
		return 0, nil, err
	}
	n := uint64(size[0])
	if len(size) == 8 {
		n = binary.BigEndian.Uint64(size)
	}
	if n > maxFrame {
		return 0, nil, errors.New("a frame is too large")
	}
	body = make([]byte, n)
	_, err = io.ReadFull(l.br, body)
	return flags, body, err
}

// message reads the frames of the next message, and answers the commands before it.
func (l *link) message() ([]string, error) {
	var frames []string
	for {
		flags, body, err := l.frame()
		if err != nil {
			return nil, err
		}
		if flags&flagCommand != 0 {
			if err := l.command(body); err != nil {
				return nil, err
			}
			continue
		}
		frames = append(frames, string(body))
		if flags&flagMore == 0 {
			return frames, nil
		}
	}
}

// command answers PING with PONG.
func (l *link) command(body []byte) error {
	if len(body) >= 7 && string(body[:5]) == "\x04PING" {
		return l.send(flagCommand, append([]byte("\x04PONG"), body[7:]...))
	}
	return nil
}
