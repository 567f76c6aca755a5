package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
)

// blockAt has, for the commands with a block, the argument that gives its size.
var blockAt = map[string]int{"add": 5, "schedule": 6, "run": 5, "complete": 2, "fail": 2}

var errArguments = errors.New("the command has other arguments")

// handle answers one line, reading its block as well. An error means that the client has left.
func (c *conn) handle(line string) ([]byte, error) {
	args := strings.Split(line, " ")
	var block []byte
	if at, ok := blockAt[args[0]]; ok && len(args) > at {
		if c.orphan(args) {
			return c.errorReply(errNotFound), nil
		}
		size, err := parseNumber(args[at], math.MaxInt64)
		if err != nil {
			return c.errorReply(err), nil
		}
		block, err = c.readBlock(size, at == 2)
		switch err {
		case nil:
		case errBlock:
			return c.errorReply(err), nil
		case errAnswered:
			return nil, nil
		default:
			return nil, err
		}
	}
	reply, err := c.answer(args, block)
	if err != nil {
		return c.errorReply(err), nil
	}
	return reply, nil
}

// orphan tells, for mutant 40, whether a report is of no job: then its block is not read.
func (c *conn) orphan(args []string) bool {
	if c.s.mutant != 40 || args[0] != "complete" && args[0] != "fail" {
		return false
	}
	id, err := c.s.parseID(args[1])
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return err == nil && c.s.jobs[id] == nil
}

// answer does what a command asks for.
func (c *conn) answer(args []string, block []byte) ([]byte, error) {
	switch args[0] {
	case "add", "schedule", "run":
		return c.create(args, block)
	case "result":
		return c.resultCommand(args)
	case "lease":
		return c.leaseCommand(args)
	case "complete", "fail":
		return c.report(args, block)
	case "delete":
		return c.deleteCommand(args)
	case "inspect":
		return c.s.inspect(args[1:])
	}
	return nil, errors.New("this command is not known")
}

// create takes add, schedule and run, which differ in the fifth argument or have none there.
func (c *conn) create(args []string, block []byte) ([]byte, error) {
	at := blockAt[args[0]]
	if len(args) <= at {
		return nil, errArguments
	}
	sp, wait, err := c.s.parseSpec(args, at)
	if err != nil {
		return nil, err
	}
	sp.payload = block
	if c.s.mutant == 1 {
		sp.payload = bytes.TrimRight(block, "\r\n")
	}
	if args[0] != "run" {
		_, err = c.s.add(sp)
		return []byte("+OK\r\n"), err
	}
	gone, stop := c.watch()
	defer stop()
	out, err := c.s.run(sp, wait, gone)
	return c.s.resultReply(out), err
}

// parseSpec reads the arguments of add, schedule and run; wait is for run only.
func (s *server) parseSpec(args []string, at int) (sp spec, wait uint64, err error) {
	if sp.id, err = s.parseID(args[1]); err != nil {
		return sp, 0, err
	}
	if sp.name, err = parseName(args[2]); err != nil {
		return sp, 0, err
	}
	if sp.ttr, err = parseNumber(args[3], maxTTR); err != nil {
		return sp, 0, err
	}
	if args[0] == "run" {
		wait, err = parseNumber(args[4], math.MaxUint64)
	} else {
		sp.ttl, err = parseTTL(args[4], args[0] == "schedule")
	}
	if err == nil && args[0] == "schedule" {
		sp.at, err = s.parseTime(args[5])
	}
	if err != nil {
		return sp, 0, err
	}
	if s.mutant == 6 {
		err = s.parseFlags(args[0], args[at+1:], &sp)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			s.reserved[sp.id] = true
		}
		return sp, wait, err
	}
	return sp, wait, s.parseFlags(args[0], args[at+1:], &sp)
}

func (c *conn) resultCommand(args []string) ([]byte, error) {
	if len(args) != 3 {
		return nil, errArguments
	}
	id, err := c.s.parseID(args[1])
	if err != nil {
		return nil, err
	}
	wait, err := parseNumber(args[2], math.MaxUint64)
	if err != nil {
		return nil, err
	}
	gone, stop := c.watch()
	defer stop()
	out, err := c.s.result(id, wait, gone)
	return c.s.resultReply(out), err
}

func (c *conn) leaseCommand(args []string) ([]byte, error) {
	if len(args) < 3 {
		return nil, errArguments
	}
	names := args[1 : len(args)-1]
	for _, name := range names {
		if _, err := parseName(name); err != nil {
			return nil, err
		}
	}
	wait, err := parseNumber(args[len(args)-1], math.MaxUint64)
	if err != nil {
		return nil, err
	}
	gone, stop := c.watch()
	defer stop()
	j := c.s.lease(names, wait, gone)
	if j == nil {
		return nil, errTimeout
	}
	head := fmt.Sprintf("+OK 1\r\n%s %s %d %d\r\n", j.id, j.name, j.ttr, len(j.payload))
	return fmt.Appendf(nil, "%s%s\r\n", head, j.payload), nil
}

// report takes complete and fail.
func (c *conn) report(args []string, block []byte) ([]byte, error) {
	if len(args) != 3 {
		return nil, errArguments
	}
	id, err := c.s.parseID(args[1])
	if err != nil {
		return nil, err
	}
	if n := bytes.IndexByte(block, 0); n >= 0 && c.s.mutant == 2 {
		block = block[:n]
	}
	if args[0] == "complete" {
		return []byte("+OK\r\n"), c.s.complete(id, block)
	}
	if c.s.variant == 2 {
		return []byte("OK\r\n"), c.s.fail(id, block)
	}
	return []byte("+OK\r\n"), c.s.fail(id, block)
}

func (c *conn) deleteCommand(args []string) ([]byte, error) {
	if len(args) != 2 {
		return nil, errArguments
	}
	id, err := c.s.parseID(args[1])
	if err != nil {
		return nil, err
	}
	return []byte("+OK\r\n"), c.s.delete(id)
}

// resultReply is the reply of run and result.
func (s *server) resultReply(out *outcome) []byte {
	if out == nil {
		return nil
	}
	success := 0
	if out.success {
		success = 1
	}
	reply := fmt.Appendf(nil, "+OK 1\r\n%s %d %d\r\n", out.id, success, len(out.result))
	if len(out.result) == 0 && s.mutant == 26 {
		return reply
	}
	return fmt.Appendf(reply, "%s\r\n", out.result)
}

// errorReply is the reply to a command that failed.
func (c *conn) errorReply(err error) []byte {
	switch err {
	case errNotFound:
		return []byte("-NOT-FOUND\r\n")
	case errTimeout:
		return []byte("-TIMEOUT\r\n")
	}
	return c.clientError(err)
}

func (c *conn) clientError(err error) []byte {
	if c.s.variant == 15 {
		return []byte("-CLIENT-ERROR E_ARGS: nope (see the manual, -OK or +OK)\r\n")
	}
	return fmt.Appendf(nil, "-CLIENT-ERROR %s\r\n", err)
}
