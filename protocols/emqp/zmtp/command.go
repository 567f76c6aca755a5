package zmtp

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// The names of the commands that the package knows. (Commands)
const (
	READY = "READY"
	ERROR = "ERROR"
	PING  = "PING"
	PONG  = "PONG"
)

// Command is a command of ZMTP, which the two ends of a connection exchange without their applications. (Commands)
type Command struct {
	Name string // 1 to 255 letters
	Data []byte
}

// Append appends the command to b as a frame. It checks nothing; a name of more than 255 octets gets a wrong size.
func (c Command) Append(b []byte) []byte {
	body := append(append([]byte{byte(len(c.Name))}, c.Name...), c.Data...)
	return AppendFrame(b, CommandFrame, body)
}

// ParseCommand parses the body of a command frame. The data aliases body. The error is a *[SyntaxError]. (Formal
// Grammar: command-body)
func ParseCommand(body []byte) (Command, error) {
	if len(body) == 0 || body[0] == 0 {
		return Command{}, newSyntaxError(RuleCommand, body, 0, "the size of a command's name, 1 to 255")
	}
	n := 1 + int(body[0])
	for i := 1; i < n; i++ {
		if i >= len(body) || !isLetter(body[i]) {
			return Command{}, newSyntaxError(RuleCommand, body, i, "a command's name, of letters")
		}
	}
	return Command{Name: string(body[1:n]), Data: body[n:]}, nil
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// Property is one property of a connection's metadata. The case of its name does not matter.
type Property struct {
	Name  string // 1 to 255 characters
	Value []byte
}

// Metadata has the properties in a READY, in their order. (Connection Metadata)
type Metadata []Property

// The names of properties. (Connection Metadata)
const (
	SocketType = "Socket-Type"
	Identity   = "Identity"
)

// Get returns the value of the first property of that name. ok is false if there is none.
func (m Metadata) Get(name string) (value []byte, ok bool) {
	for _, p := range m {
		if strings.EqualFold(p.Name, name) {
			return p.Value, true
		}
	}
	return nil, false
}

// Append appends the properties to b as READY has them. It checks nothing. (The NULL Security Mechanism)
func (m Metadata) Append(b []byte) []byte {
	for _, p := range m {
		b = append(append(b, byte(len(p.Name))), p.Name...)
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.Value))), p.Value...) // no value is 4 GiB long
	}
	return b
}

// Ready returns the command READY with properties. (The NULL Security Mechanism)
func Ready(m Metadata) Command { return Command{READY, m.Append(nil)} }

// ParseMetadata parses the data of READY. The values alias data. The error is a *[SyntaxError].
func ParseMetadata(data []byte) (Metadata, error) {
	var m Metadata
	for at := 0; at < len(data); {
		p, value, err := parseProperty(data, at)
		if err != nil {
			return nil, err
		}
		if err := checkProperty(p, data, value); err != nil {
			return nil, err
		}
		at = value + len(p.Value)
		m = append(m, p)
	}
	return m, nil
}

// parseProperty parses the property at an offset of data, and returns the offset of its value.
func parseProperty(data []byte, at int) (p Property, value int, err error) {
	if data[at] == 0 {
		return p, 0, newSyntaxError(RuleMetadata, data, at, "the size of a property's name, 1 to 255")
	}
	end := at + 1 + int(data[at])
	for i := at + 1; i < end; i++ {
		if i >= len(data) || !isNameChar(data[i]) {
			return p, 0, newSyntaxError(RuleMetadata, data, i, "a property's name, of letters, digits and -_.+")
		}
	}
	if len(data) < end+4 {
		return p, 0, newSyntaxError(RuleMetadata, data, len(data), "the four octets of a value's size")
	}
	size := binary.BigEndian.Uint32(data[end:])
	if size > math.MaxInt32 {
		return p, 0, newSyntaxError(RuleMetadata, data, end, "a value's size below 2^31")
	}
	value = end + 4
	if uint64(len(data)-value) < uint64(size) {
		return p, 0, newSyntaxError(RuleMetadata, data, end, "a value that READY has in full")
	}
	stop := value + int(size)
	return Property{Name: string(data[at+1 : end]), Value: data[value:stop:stop]}, value, nil
}

func isNameChar(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '+'
}

// checkProperty checks the properties that the specification defines. (The Socket-Type Property, The Identity Property)
func checkProperty(p Property, data []byte, value int) error {
	switch {
	case strings.EqualFold(p.Name, SocketType):
		if !isSocketType(string(p.Value)) {
			return newSyntaxError(RuleType, data, value, "a socket type, such as DEALER")
		}
	case !strings.EqualFold(p.Name, Identity):
	case len(p.Value) > math.MaxUint8:
		return newSyntaxError(RuleIdentity, data, value, "an identity of at most 255 octets")
	case len(p.Value) > 0 && p.Value[0] == 0:
		return newSyntaxError(RuleIdentity, data, value, "an identity whose first octet is not zero")
	}
	return nil
}

// Error returns the command ERROR. The reason may have up to 255 printable characters, without blanks. (The NULL
// Security Mechanism)
func Error(reason string) Command {
	return Command{ERROR, append([]byte{byte(len(reason))}, reason...)}
}

// ParseError parses the data of ERROR and returns the reason. The error is a *[SyntaxError].
func ParseError(data []byte) (reason string, err error) {
	if len(data) == 0 {
		return "", newSyntaxError(RuleReason, data, 0, "the size of the reason")
	}
	n := 1 + int(data[0])
	for i := 1; i < n; i++ {
		if i >= len(data) || data[i] <= ' ' || data[i] > '~' {
			return "", newSyntaxError(RuleReason, data, i, "a reason of printable characters without blanks")
		}
	}
	if len(data) > n {
		return "", newSyntaxError(RuleReason, data, n, "the end of ERROR behind its reason")
	}
	return string(data[1:n]), nil
}

// tenth is the unit of a time to live. (Connection Heartbeating)
const tenth = time.Second / 10

// Ping returns the command PING. The time to live is sent in tenths of a second, at most 6553.5 s; 0 means none. The
// context has at most 16 octets. (Connection Heartbeating)
func Ping(ttl time.Duration, context []byte) Command {
	tenths := min(max(ttl/tenth, 0), math.MaxUint16)
	return Command{PING, append(binary.BigEndian.AppendUint16(nil, uint16(tenths)), context...)}
}

// ParsePing parses the data of PING. The context aliases data. The error is a *[SyntaxError].
func ParsePing(data []byte) (ttl time.Duration, context []byte, err error) {
	if len(data) < 2 {
		return 0, nil, newSyntaxError(RulePing, data, len(data), "the two octets of a time to live")
	}
	if len(data) > 2+contextMax {
		return 0, nil, newSyntaxError(RulePing, data, 2+contextMax, "a context of at most 16 octets")
	}
	return time.Duration(binary.BigEndian.Uint16(data)) * tenth, data[2:], nil
}

// Pong returns the reply to a PING with that context. (Connection Heartbeating)
func Pong(context []byte) Command { return Command{PONG, context} }
