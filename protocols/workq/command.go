package workq

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The verbs. (Client commands; Worker commands; Administrative commands)
const (
	Add      = "add"
	Schedule = "schedule"
	Run      = "run"
	Result   = "result"
	Lease    = "lease"
	Complete = "complete"
	Fail     = "fail"
	Delete   = "delete"
	Inspect  = "inspect"
)

// The objects of inspect, which are part of the verb in [Command.Verb]. (inspect)
const (
	InspectJob       = Inspect + " job"
	InspectJobs      = Inspect + " jobs"
	InspectScheduled = Inspect + " scheduled-jobs"
	InspectQueue     = Inspect + " queue"
	InspectQueues    = Inspect + " queues"
	InspectServer    = Inspect + " server"
)

// The flags, without their leading minus sign. (add, Optional Flags)
const (
	Priority    = "priority"
	MaxAttempts = "max-attempts"
	MaxFails    = "max-fails"
)

// MaxBlock is the largest payload or result, in bytes. (add; complete; fail)
const MaxBlock = 1 << 20

// MaxLine is the longest command line that [ParseCommand] accepts, in bytes with its line end. The specification has
// no limit; this one has room for a lease of several hundred names.
const MaxLine = 64 << 10

// param is one argument of a command.
type param uint8

const (
	paramID param = iota
	paramName
	paramNames // one or more
	paramTTR
	paramTTL
	paramTime
	paramWait
	paramSize // of the block; always the last one
	paramOffset
	paramLimit
)

var paramWords = [...]string{
	"id", "name", "name", "ttr", "ttl", "time", "wait-timeout", "size", "cursor-offset", "limit",
}

// spec is the form of a command.
type spec struct {
	params []param
	flags  []string
}

// hasBlock reports whether a block follows the line.
func (s spec) hasBlock() bool { return s.params != nil && s.params[len(s.params)-1] == paramSize }

var specs = map[string]spec{
	Add: {
		[]param{paramID, paramName, paramTTR, paramTTL, paramSize}, []string{Priority, MaxAttempts, MaxFails},
	},
	Schedule: {
		[]param{paramID, paramName, paramTTR, paramTTL, paramTime, paramSize},
		[]string{Priority, MaxAttempts, MaxFails},
	},
	Run:              {[]param{paramID, paramName, paramTTR, paramWait, paramSize}, []string{Priority}},
	Result:           {[]param{paramID, paramWait}, nil},
	Lease:            {[]param{paramNames, paramWait}, nil},
	Complete:         {[]param{paramID, paramSize}, nil},
	Fail:             {[]param{paramID, paramSize}, nil},
	Delete:           {[]param{paramID}, nil},
	InspectJob:       {[]param{paramID}, nil},
	InspectJobs:      {[]param{paramName, paramOffset, paramLimit}, nil},
	InspectScheduled: {[]param{paramName, paramOffset, paramLimit}, nil},
	InspectQueue:     {[]param{paramName}, nil},
	InspectQueues:    {[]param{paramOffset, paramLimit}, nil},
	InspectServer:    {nil, nil},
}

// Command is a command of a client. [ParseCommand] sets the fields that the verb has, with numbers in their bounds;
// the others are zero.
type Command struct {
	Verb        string
	ID          string   // a UUID
	Names       []string // job names: one, or several of a lease
	TTR         uint64   // time to run, in ms: how long a lease lasts
	TTL         uint64   // time to live, in ms: how long a job exists
	Wait        uint64   // ms that the server may wait before it replies
	Time        string   // when a job is due: RFC 3339 in UTC
	Offset      uint64   // of inspect: the first result, from 0
	Limit       uint64   // of inspect: the most results
	Priority    int64    // 0 if the flag is missing
	MaxAttempts uint64   // 0: unlimited
	MaxFails    uint64   // 0: unlimited
	Block       []byte   // payload or result
}

// Name returns the first of Names, or "" if there is none.
func (c Command) Name() string {
	if len(c.Names) == 0 {
		return ""
	}
	return c.Names[0]
}

// CommandError is the error for bytes that are not a command.
type CommandError struct {
	Verb   string // "" if unknown
	Reason string // a sentence
	Part   string // the wrong argument, such as "id"; a flag with its sign; "flag" for an unknown one; or ""
}

// Error returns the reason.
func (e *CommandError) Error() string { return e.Reason }

// ErrShort is the error of [ParseCommand] for an incomplete command: more bytes are needed.
var ErrShort = errors.New("the command is not complete")

// ParseCommand reads the command at the start of b. It returns how many bytes the command takes; the Block aliases b.
// The error is [ErrShort] if the command is incomplete, and a [*CommandError] if it is malformed. After a
// CommandError, n is where the next command starts: after the block, if the line has its size. n is 0 if that is
// unknown, because the block has another size or is too large.
func ParseCommand(b []byte) (c Command, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end >= MaxLine, end < 0 && len(b) >= MaxLine:
		return c, 0, &CommandError{Reason: fmt.Sprintf("the line has no end within %d bytes", MaxLine)}
	case end < 0:
		return c, 0, ErrShort
	}
	n = end + 1
	line, ok := bytes.CutSuffix(b[:end], []byte("\r"))
	if !ok {
		return c, n, &CommandError{Reason: "the line does not end with CRLF"}
	}
	c, err = ParseLine(string(line))
	size, hasSize := blockSize(string(line))
	switch block := b[n:]; {
	case !hasSize:
		return c, n, err
	case size > 2*MaxBlock:
		return c, 0, err
	case size < len(block) && block[size] != '\r', size+1 < len(block) && block[size+1] != '\n':
		const reason = "the block does not end with CRLF where its size says"
		return c, 0, cmp.Or(err, error(&CommandError{Verb: c.Verb, Reason: reason}))
	case size+1 >= len(block):
		return c, 0, ErrShort
	default:
		c.Block = block[:size:size]
		return c, n + size + 2, err
	}
}

// blockSize returns the size of the block that follows a line, if the line has as many arguments as its command takes
// and the last one is a size.
func blockSize(line string) (size int, ok bool) {
	words := strings.Split(line, " ")
	s, args := specs[words[0]], cutFlags(words[1:])
	if !s.hasBlock() || len(args) != len(s.params) {
		return 0, false
	}
	v, ok := Number(args[len(args)-1], 1<<40)
	return int(v), ok //nolint:gosec // at most 2^40
}

func cutFlags(words []string) []string {
	i := slices.IndexFunc(words, isFlag)
	if i < 0 {
		return words
	}
	return words[:i]
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") && strings.Contains(word, "=") }

// ParseLine reads a command line without its line end and without its block. The error is a [*CommandError].
func ParseLine(line string) (c Command, err error) {
	words := strings.Split(line, " ")
	c.Verb, words = words[0], words[1:]
	if c.Verb == Inspect && len(words) > 0 {
		c.Verb, words = c.Verb+" "+words[0], words[1:]
	}
	s, ok := specs[c.Verb]
	if !ok {
		return c, &CommandError{Verb: c.Verb, Reason: fmt.Sprintf("%q is not a command", c.Verb)}
	}
	args := cutFlags(words)
	flags := words[len(args):]
	part, reason := c.arguments(s, args)
	if reason == "" {
		part, reason = c.flags(s, flags)
	}
	if reason != "" {
		return c, &CommandError{c.Verb, reason, part}
	}
	return c, nil
}

// arguments reads the words before the flags, and returns which is wrong, and why.
func (c *Command) arguments(s spec, args []string) (part, reason string) {
	if hasNames := len(s.params) > 0 && s.params[0] == paramNames; hasNames && len(args) > len(s.params) {
		names := len(args) - len(s.params) + 1
		for _, name := range args[:names-1] {
			if reason = c.argument(paramName, name); reason != "" {
				return paramWords[paramName], reason
			}
		}
		args = args[names-1:]
	}
	if len(args) != len(s.params) {
		if n := len(args); n > len(s.params) && strings.HasPrefix(args[n-1], "-") {
			part = "flag"
		}
		return part, fmt.Sprintf("%s has %d arguments, and not %d", c.Verb, len(s.params), len(args))
	}
	for i, p := range s.params {
		if reason = c.argument(p, args[i]); reason != "" {
			return paramWords[p], reason
		}
	}
	return "", ""
}

// argument reads one word, and returns what is wrong with it.
func (c *Command) argument(p param, word string) string {
	ok := false
	switch p {
	case paramID:
		c.ID, ok = word, IsID(word)
	case paramName, paramNames:
		c.Names, ok = append(c.Names, word), IsName(word)
	case paramTTR:
		c.TTR, ok = Number(word, MaxTTR)
	case paramTTL:
		c.TTL, ok = Number(word, maxUint64)
	case paramTime:
		_, ok = Time(word)
		c.Time = word
	case paramWait:
		c.Wait, ok = Number(word, maxUint64)
	case paramOffset:
		c.Offset, ok = Number(word, maxUint64)
	case paramLimit:
		c.Limit, ok = Number(word, maxUint64)
	case paramSize:
		_, ok = Number(word, MaxBlock)
	}
	if !ok {
		return fmt.Sprintf("%q is not a valid %s", word, paramWords[p])
	}
	return ""
}

// flags reads the flags, and returns which is wrong, and why. For schedule and run the document gives a priority from 0
// to 2^32, and one of 32 bits with a sign: each is taken.
func (c *Command) flags(s spec, words []string) (part, reason string) {
	keys := map[string]bool{}
	for _, word := range words {
		key, value, ok := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		switch {
		case !ok || !strings.HasPrefix(word, "-"):
			return "flag", fmt.Sprintf("%q is not a flag of the form -key=value", word)
		case !slices.Contains(s.flags, key):
			return "flag", fmt.Sprintf("%s has no flag -%s", c.Verb, key)
		case keys[key]:
			return "flag", fmt.Sprintf("the flag -%s is there twice", key)
		}
		keys[key] = true
		var err error
		switch key {
		case Priority:
			c.Priority, err = strconv.ParseInt(value, 10, 64)
			ok = err == nil && c.Priority >= MinPriority && c.Priority <= maxPriority(c.Verb)
		case MaxAttempts:
			c.MaxAttempts, ok = Number(value, 255)
		case MaxFails:
			c.MaxFails, ok = Number(value, math.MaxInt64)
		}
		if !ok {
			return "-" + key, fmt.Sprintf("%q is not a valid value of -%s", value, key)
		}
	}
	return "", ""
}

func maxPriority(verb string) int64 {
	if verb == Add {
		return MaxPriority
	}
	return 1 << 32
}
