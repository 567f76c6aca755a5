package zmtp_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// opening is what a DEALER sends first.
func opening() []byte {
	b := zmtp.NewGreeting().Append(nil)
	return zmtp.Ready(zmtp.Metadata{{Name: zmtp.SocketType, Value: []byte(zmtp.DEALER)}}).Append(b)
}

// bodyOffset is the offset of what follows the opening.
var bodyOffset = int64(len(opening()))

// readAll returns what a stream consists of in words, and its error.
func readAll(r io.Reader, limits zmtp.Limits) (words []string, err error) {
	reader := zmtp.NewReader(r, limits)
	for {
		item, err := reader.Read()
		if err != nil {
			return words, err
		}
		switch item.Kind {
		case zmtp.IsGreeting:
			words = append(words, "greeting "+item.Greeting.Mechanism)
		case zmtp.IsCommand:
			words = append(words, item.Command.Name)
			if item.IsInside {
				words[len(words)-1] += " inside"
			}
		case zmtp.IsMessage:
			words = append(words, string(bytes.Join(item.Parts, []byte("|"))))
		}
	}
}

// concat returns octets and texts one behind the other.
func concat(all ...any) []byte {
	var b []byte
	for _, v := range all {
		switch v := v.(type) {
		case []byte:
			b = append(b, v...)
		case string:
			b = append(b, v...)
		case int:
			b = append(b, byte(v))
		}
	}
	return b
}

func TestReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	in := concat(opening(),
		zmtp.AppendMessage(nil, []byte("a"), nil, []byte("b")),
		zmtp.AppendMessage(nil, []byte(long)),
		zmtp.AppendFrame(nil, zmtp.Long, []byte("short in a long frame")),
		zmtp.Ping(0, []byte("c")).Append(nil),
		zmtp.AppendFrame(nil, zmtp.More, []byte("one")), zmtp.Pong(nil).Append(nil),
		zmtp.AppendFrame(nil, 0, []byte("two")),
		zmtp.AppendFrame(nil, zmtp.CommandFrame|zmtp.Long, concat(1, "X", "any")),
		zmtp.AppendMessage(nil))
	want := []string{
		"greeting NULL", "READY", "a||b", long, "short in a long frame", "PING", "PONG inside", "one|two", "X", "",
	}
	for name, r := range map[string]io.Reader{
		"in one piece": bytes.NewReader(in), "octet by octet": iotest.OneByteReader(bytes.NewReader(in)),
		"error with the last": iotest.DataErrReader(bytes.NewReader(in)),
	} {
		got, err := readAll(r, zmtp.Limits{})
		require.ErrorIs(t, err, io.EOF, name)
		assert.Equal(t, want, got, name)
	}
}

func TestReaderRefuses(t *testing.T) {
	t.Parallel()
	greeting := zmtp.NewGreeting().Append(nil)
	plain2 := zmtp.Greeting{Version: zmtp.Version{Major: 3}, Mechanism: "PLAIN", AsServer: 2}.Append(nil)
	longName := strings.Repeat("i", 256)
	long := strings.Repeat("c", 17)
	changed := func(at int, to byte) []byte {
		b := bytes.Clone(greeting)
		b[at] = to
		return b
	}
	command := func(parts ...any) []byte { return zmtp.AppendFrame(nil, zmtp.CommandFrame, concat(parts...)) }
	ready := func(parts ...any) []byte { return concat(greeting, command(5, "READY", concat(parts...))) }
	type breaches map[string]struct {
		in   []byte
		rule zmtp.Rule
		at   int64
	}
	for name, c := range (breaches{
		"no FF":                      {changed(0, 0xfe), zmtp.RuleSignature, 0},
		"no 7F":                      {changed(9, 0x7e), zmtp.RuleSignature, 9},
		"version 2":                  {changed(10, 2), zmtp.RuleVersion, 10},
		"version 2 in 11 octets":     {changed(10, 2)[:11], zmtp.RuleVersion, 10},
		"small letters":              {changed(12, 'n'), zmtp.RuleMechanism, 12},
		"letters behind a zero":      {changed(20, 'A'), zmtp.RuleMechanism, 20},
		"as-server under NULL":       {changed(32, 1), zmtp.RuleAsServer, 32},
		"as-server 2":                {plain2, zmtp.RuleAsServer, 32},
		"filler":                     {changed(63, 1), zmtp.RuleFiller, 63},
		"half a greeting":            {greeting[:40], zmtp.RuleTruncated, 40},
		"nothing":                    {nil, zmtp.RuleTruncated, 0},
		"a message first":            {concat(greeting, 0, 1, "a"), zmtp.RuleHandshake, 64},
		"a message of 2^63 first":    {concat(greeting, 2, 0x80), zmtp.RuleHandshake, 64},
		"PING first":                 {concat(greeting, zmtp.Ping(0, nil).Append(nil)), zmtp.RuleHandshake, 67},
		"READY twice":                {concat(opening(), command(5, "READY")), zmtp.RuleHandshake, bodyOffset + 3},
		"reserved bit":               {concat(opening(), 0x08), zmtp.RuleReserved, bodyOffset},
		"command with MORE":          {concat(opening(), 0x05), zmtp.RuleMore, bodyOffset},
		"size of 2^63":               {concat(opening(), 2, 0x80), zmtp.RuleSize, bodyOffset + 1},
		"frame of 2^63-1":            {concat(opening(), 2, 0x7f, "1234567"), zmtp.RuleSize, bodyOffset + 1},
		"frame of 2^48":              {concat(opening(), zmtp.AppendHeader(nil, 2, 1<<48)), zmtp.RuleTooLong, bodyOffset},
		"frame of 2^48+1":            {concat(opening(), zmtp.AppendHeader(nil, 2, 1<<48+1)), zmtp.RuleSize, bodyOffset + 1},
		"command of 1 GiB":           {concat(opening(), zmtp.AppendHeader(nil, 6, 1<<30)), zmtp.RuleTooLong, bodyOffset},
		"frames":                     {concat(opening(), 1, 0, 1, 0, 1, 0, 1, 0, 1, 0), zmtp.RuleTooMany, bodyOffset + 8},
		"command without a name":     {concat(opening(), 4, 0), zmtp.RuleCommand, bodyOffset + 2},
		"name of no octets":          {concat(opening(), command(0, "READY")), zmtp.RuleCommand, bodyOffset + 2},
		"name longer than the body":  {concat(opening(), command(9, "PING")), zmtp.RuleCommand, bodyOffset + 7},
		"name with a digit":          {concat(opening(), command(2, "P1")), zmtp.RuleCommand, bodyOffset + 4},
		"PING without time":          {concat(opening(), command(4, "PING", 0)), zmtp.RulePing, bodyOffset + 8},
		"PING with a long context":   {concat(opening(), command(4, "PING", 0, 0, long)), zmtp.RulePing, bodyOffset + 25},
		"PONG with a long context":   {concat(opening(), command(4, "PONG", long)), zmtp.RulePing, bodyOffset + 23},
		"property without a name":    {ready(0), zmtp.RuleMetadata, 72},
		"property with a short name": {ready(9, "Socket"), zmtp.RuleMetadata, 79},
		"name with a blank":          {ready(3, "a b", 0, 0, 0, 0), zmtp.RuleMetadata, 74},
		"property without a size":    {ready(1, "a", 0, 0, 0), zmtp.RuleMetadata, 77},
		"value of 2^31":              {ready(1, "a", 0x80, 0, 0, 0), zmtp.RuleMetadata, 74},
		"value beyond READY":         {ready(1, "a", 0, 0, 0, 2, "v"), zmtp.RuleMetadata, 74},
		"unknown socket type":        {ready(11, "SOCKET-type", 0, 0, 0, 2, "NO"), zmtp.RuleType, 88},
		"identity with a zero":       {ready(8, "Identity", 0, 0, 0, 2, 0, "a"), zmtp.RuleIdentity, 85},
		"identity of 256":            {ready(8, "Identity", 0, 0, 1, 0, longName), zmtp.RuleIdentity, 92},
		"ERROR without a reason":     {concat(greeting, command(5, "ERROR")), zmtp.RuleReason, 72},
		"ERROR with a blank":         {concat(greeting, zmtp.Error("a b").Append(nil)), zmtp.RuleReason, 74},
		"ERROR with more":            {concat(greeting, command(5, "ERROR", 1, "ab")), zmtp.RuleReason, 74},
		"half a frame":               {concat(opening(), 0, 5, "abc"), zmtp.RuleTruncated, bodyOffset + 5},
		"half a message":             {concat(opening(), 1, 1, "a"), zmtp.RuleTruncated, bodyOffset + 3},
		"commands inside": {
			concat(opening(), 1, 1, "a", bytes.Repeat(command(1, "X", strings.Repeat("x", 40)), 100)), zmtp.RuleInside,
			bodyOffset + 3 + 23*44,
		},
	}) {
		limits := zmtp.Limits{Message: 1024, Frames: 4, Command: 1024}
		for piece, r := range map[string]io.Reader{
			"": bytes.NewReader(c.in), ", octet by octet": iotest.OneByteReader(bytes.NewReader(c.in)),
		} {
			_, err := readAll(r, limits)
			var syntax *zmtp.SyntaxError
			require.ErrorAs(t, err, &syntax, name+piece)
			assert.Equal(t, c.rule, syntax.Rule, name+piece+": "+err.Error())
			assert.Equal(t, c.at, syntax.Offset, name+piece+": "+err.Error())
		}
	}
}

// A greeting may have any padding, and one of a later version any filler.
func TestGreetingAccepts(t *testing.T) {
	t.Parallel()
	g := zmtp.NewGreeting()
	g.Padding = [8]byte{1, 2, 3, 4, 5, 6, 7, 8}
	later := zmtp.Greeting{Version: zmtp.Version{Major: 4}, Mechanism: "NEW-1_+.", AsServer: 1, Filler: [31]byte{30: 9}}
	for _, want := range []zmtp.Greeting{g, later, {Version: zmtp.Version{Major: 3}, Mechanism: zmtp.NULL}} {
		b := want.Append(nil)
		require.Len(t, b, zmtp.GreetingSize)
		got, isComplete, err := zmtp.ParseGreeting(b)
		require.NoError(t, err)
		assert.True(t, isComplete)
		assert.Equal(t, want, got)
		_, isComplete, err = zmtp.ParseGreeting(b[:63])
		require.NoError(t, err)
		assert.False(t, isComplete)
	}
}

// A deadline interrupts Read, which then continues; Pending says what is missing.
func TestReaderContinues(t *testing.T) {
	t.Parallel()
	in := concat(opening(), zmtp.AppendMessage(nil, []byte("a"), []byte("bcd")))
	pieces := &pieceReader{pieces: [][]byte{in[:30], in[30 : bodyOffset+6], in[bodyOffset+6:]}}
	r := zmtp.NewReader(pieces, zmtp.Limits{})
	_, err := r.Read()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.Equal(t, "a greeting of 64 octets, 30 received", r.Pending())
	item, err := r.Read()
	require.NoError(t, err)
	assert.Equal(t, zmtp.IsGreeting, item.Kind)
	item, err = r.Read()
	require.NoError(t, err)
	assert.EqualValues(t, 64, item.Offset)
	_, err = r.Read()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.Equal(t, "a frame of 3 octets of a message behind its first 1, 1 octets received", r.Pending())
	assert.Equal(t, 6, r.Buffered())
	item, err = r.Read()
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte("a"), []byte("bcd")}, item.Parts)
	assert.Equal(t, bodyOffset, item.Offset)
	assert.Empty(t, r.Pending())
	assert.Equal(t, int64(len(in)), r.Offset())
}

// pieceReader returns its pieces with a deadline behind each.
type pieceReader struct {
	pieces      [][]byte
	hasDeadline bool
}

func (i *pieceReader) Read(p []byte) (int, error) {
	if i.hasDeadline || len(i.pieces) == 0 {
		i.hasDeadline = false
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, i.pieces[0])
	i.pieces[0] = i.pieces[0][n:]
	if i.hasDeadline = len(i.pieces[0]) == 0; i.hasDeadline {
		i.pieces = i.pieces[1:]
	}
	return n, nil
}

// What a peer announces takes no memory: there is no machine with as much.
func TestReaderMemory(t *testing.T) {
	t.Parallel()
	in := concat(opening(), zmtp.AppendHeader(nil, zmtp.Long, 1<<45), "few")
	_, err := readAll(bytes.NewReader(in), zmtp.Limits{Message: 1 << 60})
	var syntax *zmtp.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, zmtp.RuleTruncated, syntax.Rule)
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	want := zmtp.Metadata{{"Socket-Type", []byte("ROUTER")}, {"Identity", []byte{}}, {"X-a.b+c_1", []byte{0, 255}}}
	got, err := zmtp.ParseMetadata(want.Append(nil))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	value, ok := got.Get("socket-TYPE")
	assert.True(t, ok)
	assert.Equal(t, "ROUTER", string(value))
	_, ok = got.Get("Resource")
	assert.False(t, ok)
}

func TestCompatible(t *testing.T) {
	t.Parallel()
	for _, ours := range []string{"DEALER", "ROUTER"} {
		for _, theirs := range []string{"REQ", "REP", "DEALER", "ROUTER", "PUB", ""} {
			want := theirs == "DEALER" || theirs == "ROUTER" || ours == "DEALER" && theirs == "REP" ||
				ours == "ROUTER" && theirs == "REQ"
			assert.Equal(t, want, zmtp.Compatible(ours, theirs), ours+" "+theirs)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(concat(opening(), zmtp.AppendMessage(nil, []byte("a"), nil)), byte(7))
	f.Add(concat(opening(), 1, 1, "a", zmtp.Ping(10, []byte("c")).Append(nil), 0, 0), byte(1))
	f.Add(concat(zmtp.NewGreeting().Append(nil), zmtp.Error("no").Append(nil)), byte(64))
	f.Add(concat(opening(), zmtp.AppendHeader(nil, zmtp.Long, 1<<63-1)), byte(3))
	f.Add([]byte("HTTP/1.0"), byte(1))
	f.Add(concat(zmtp.NewGreeting().Append(nil), 2, 0x80), byte(63))
	f.Fuzz(func(t *testing.T, in []byte, size byte) {
		limits := zmtp.Limits{Message: 1 << 10, Frames: 16, Command: 1 << 10}
		items, wholeErr := readAll(bytes.NewReader(in), limits)
		pieces, piecesErr := readAll(&chunkReader{in, int(size) + 1}, limits)
		assert.Equal(t, items, pieces)
		syntax, ok := errors.AsType[*zmtp.SyntaxError](wholeErr)
		if !ok {
			assert.Equal(t, wholeErr, piecesErr)
			return
		}
		other, _ := errors.AsType[*zmtp.SyntaxError](piecesErr)
		if assert.NotNil(t, other) {
			assert.Equal(t, syntax.Rule, other.Rule)
			assert.Equal(t, syntax.Offset, other.Offset)
			assert.GreaterOrEqual(t, syntax.Offset, int64(0))
			assert.LessOrEqual(t, syntax.Offset, int64(len(in)))
		}
	})
}

// chunkReader returns octets in pieces of a size.
type chunkReader struct {
	rest []byte
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// What the Append functions write is what the Reader reads.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("a\x00b"), 300)
	f.Fuzz(func(t *testing.T, text []byte, count int) {
		parts := append(bytes.Split(text, []byte{0}), make([]byte, min(max(count, 0), 1000)))
		reader := zmtp.NewReader(bytes.NewReader(concat(opening(), zmtp.AppendMessage(nil, parts...))), zmtp.Limits{})
		for range 2 {
			_, err := reader.Read()
			require.NoError(t, err)
		}
		item, err := reader.Read()
		if len(parts) > 4096 {
			return
		}
		require.NoError(t, err)
		require.Len(t, item.Parts, len(parts))
		for i, p := range parts {
			assert.Equal(t, string(p), string(item.Parts[i]))
		}
	})
}
