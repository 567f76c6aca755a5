package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// reply is one RESP answer: its kind is the first byte on the wire.
type reply struct {
	kind byte
	text string
	null bool
}

// failed says whether the server answered with an error.
func (r reply) failed() bool { return r.kind == '-' }

// readReply reads one complete answer.
func readReply(in *bufio.Reader) (reply, error) {
	line, err := readLine(in)
	if err != nil {
		return reply{}, err
	}
	if line == "" {
		return reply{}, errors.New("the server sent an empty line")
	}
	r := reply{kind: line[0], text: line[1:]}
	switch r.kind {
	case '+', '-', ':':
		return r, nil
	case '$':
		return readBulk(in, r.text)
	}
	return r, fmt.Errorf("the server sent an answer of unknown kind: %q", line)
}

// readLine reads up to CRLF and returns the line without it.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	text, found := strings.CutSuffix(line, "\r\n")
	if !found {
		return "", fmt.Errorf("the server's line does not end with CRLF: %q", line)
	}
	return text, nil
}

// readBulk reads the body of a bulk string whose length is given as text.
func readBulk(in *bufio.Reader, length string) (reply, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < -1 {
		return reply{}, fmt.Errorf("bad length of a bulk string: %q", length)
	}
	if n == -1 {
		return reply{kind: '$', null: true}, nil
	}
	body, err := readBody(in, n)
	if err != nil {
		return reply{}, err
	}
	var end [2]byte
	if _, err := io.ReadFull(in, end[:]); err != nil {
		return reply{}, err
	}
	return reply{kind: '$', text: body}, nil
}

// readBody reads exactly n bytes.
func readBody(in *bufio.Reader, n int) (string, error) {
	if mutant == 15 {
		var text strings.Builder
		for range n {
			r, _, err := in.ReadRune()
			if err != nil {
				return "", err
			}
			text.WriteRune(r)
		}
		return text.String(), nil
	}
	body := make([]byte, n)
	if mutant == 16 {
		got, err := in.Read(body)
		return string(body[:got]), err
	}
	_, err := io.ReadFull(in, body)
	return string(body), err
}
