package zmtp

import (
	"encoding/binary"
	"math"
)

// The flags of a frame; the other bits are reserved. (Framing)
const (
	More         byte = 1 << iota // more frames of the message follow
	Long                          // the size has eight octets instead of one
	CommandFrame                  // the frame is a command
)

const (
	reserved   = ^(More | Long | CommandFrame)
	shortMax   = math.MaxUint8 // octets of the body of a short frame
	shortSize  = 2             // octets of its header
	longSize   = 9             // of the header of a long frame
	contextMax = 16            // octets of the context of a PING
	maxSize    = 1 << 48       // of a frame: no stream has more
)

// AppendHeader appends the header of a frame to b: the flags and the size. The size has eight octets with the flag
// Long, and one without: higher bits are then lost. Nothing is checked; the flags may be reserved, and any body may
// follow. (Framing)
func AppendHeader(b []byte, flags byte, size uint64) []byte {
	b = append(b, flags)
	if flags&Long != 0 {
		return binary.BigEndian.AppendUint64(b, size)
	}
	return append(b, byte(size))
}

// AppendFrame appends a frame to b. It is a long frame if the body needs that or the flags have Long.
func AppendFrame(b []byte, flags byte, body []byte) []byte {
	if len(body) > shortMax {
		flags |= Long
	}
	return append(AppendHeader(b, flags, uint64(len(body))), body...)
}

// AppendMessage appends a message to b: one frame for each part, at least one. (Formal Grammar: message)
func AppendMessage(b []byte, parts ...[]byte) []byte {
	if len(parts) == 0 {
		parts = [][]byte{nil}
	}
	for i, p := range parts {
		flags := More
		if i == len(parts)-1 {
			flags = 0
		}
		b = AppendFrame(b, flags, p)
	}
	return b
}

// header is the beginning of a frame.
type header struct {
	flags  byte
	size   int64 // of the body
	octets int   // of the header itself
}

// parseHeader returns the header with which b begins; ok is false if b is too short for it. The offset of an error
// counts from the start of b.
func parseHeader(b []byte) (h header, ok bool, err error) {
	if len(b) == 0 {
		return h, false, nil
	}
	h.flags = b[0]
	switch {
	case h.flags&reserved != 0:
		return h, false, newSyntaxError(RuleReserved, b, 0, "flags whose bits 7 to 3 are zero")
	case h.flags&CommandFrame != 0 && h.flags&More != 0:
		return h, false, newSyntaxError(RuleMore, b, 0, "a command without the flag MORE")
	case h.flags&Long == 0 && len(b) >= shortSize:
		h.size, h.octets = int64(b[1]), shortSize
		return h, true, nil
	case h.flags&Long != 0 && len(b) > 1 && b[1] > 0x7f:
		return h, false, newSyntaxError(RuleSize, b, 1, "a size below 2^63")
	case h.flags&Long != 0 && len(b) >= longSize && binary.BigEndian.Uint64(b[1:]) > maxSize:
		return h, false, newSyntaxError(RuleSize, b, 1, "a size that a stream can have, of at most 2^48")
	case h.flags&Long != 0 && len(b) >= longSize:
		h.size, h.octets = int64(binary.BigEndian.Uint64(b[1:])), longSize // below 2^63
		return h, true, nil
	}
	return h, false, nil
}

// FrameSize returns the size in octets of the frame at the start of b, with its header. It is 0 if b is too short or
// does not start with a frame.
func FrameSize(b []byte) int64 {
	h, ok, err := parseHeader(b)
	if !ok || err != nil {
		return 0
	}
	return int64(h.octets) + h.size
}

// ParseFrame returns the flags and the body of the frame at the start of b, and how many octets the frame has. n is
// 0, without an error, if the frame is incomplete. The body aliases b. The error is a *[SyntaxError], with an offset
// in b. Without an error nothing is allocated.
func ParseFrame(b []byte) (flags byte, body []byte, n int, err error) {
	h, ok, err := parseHeader(b)
	if err != nil || !ok || int64(len(b)-h.octets) < h.size {
		return 0, nil, 0, err
	}
	n = h.octets + int(h.size)
	return h.flags, b[h.octets:n], n, nil
}
