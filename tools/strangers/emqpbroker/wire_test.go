package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// wire is a plain client: a DEALER of ZMTP 3.0, made of bytes.
type wire struct {
	nc net.Conn
	br *bufio.Reader
}

// dial connects and shakes hands. An identity that begins with ? is not announced.
func dial(addr, identity string) (*wire, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	w := &wire{nc: nc, br: bufio.NewReader(nc)}
	hello := "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL" + strings.Repeat("\x00", 48)
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
	if !strings.HasPrefix(identity, "?") {
		ready += "\x08Identity\x00\x00\x00" + string(rune(len(identity))) + identity
	}
	nc.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := nc.Write([]byte(hello + "\x04" + string(rune(len(ready))) + ready)); err != nil {
		return nil, err
	}
	theirs := make([]byte, 64)
	if _, err := io.ReadFull(w.br, theirs); err != nil {
		return nil, err
	}
	flags, body, err := w.frame()
	if err != nil || flags != 4 || !strings.Contains(body, "ROUTER") {
		return nil, fmt.Errorf("no READY of a ROUTER: %d %q %v", flags, body, err)
	}
	return w, nil
}

// frame reads one frame.
func (w *wire) frame() (flags byte, body string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(w.br, head); err != nil {
		return 0, "", err
	}
	size := uint64(head[1])
	if head[0]&2 != 0 {
		tail := make([]byte, 8)
		tail[0] = head[1]
		if _, err := io.ReadFull(w.br, tail[1:]); err != nil {
			return 0, "", err
		}
		size = binary.BigEndian.Uint64(tail)
	}
	bytes := make([]byte, size)
	_, err = io.ReadFull(w.br, bytes)
	return head[0], string(bytes), err
}

// message reads the frames of one message.
func (w *wire) message(within time.Duration) ([]string, error) {
	w.nc.SetReadDeadline(time.Now().Add(within))
	var frames []string
	for {
		flags, body, err := w.frame()
		if err != nil {
			return frames, err
		}
		frames = append(frames, body)
		if flags&1 == 0 {
			return frames, nil
		}
	}
}

// encode makes the bytes of a message.
func encode(frames []string) []byte {
	var all []byte
	for i, f := range frames {
		flags := byte(1)
		if i == len(frames)-1 {
			flags = 0
		}
		if len(f) > 255 {
			all = binary.BigEndian.AppendUint64(append(all, flags|2), uint64(len(f)))
		} else {
			all = append(all, flags, byte(len(f)))
		}
		all = append(all, f...)
	}
	return all
}
