package fwp

import (
	"math"
	"strconv"
)

// readNumber checks the digits of a length or an integer one by one, so that a bad one
// is an error at once.
func (d *decoder) readNumber(b []byte) error {
	for ; d.pos < len(b); d.pos++ {
		c := b[d.pos]
		if c == '\r' && d.digits > 0 {
			d.pos++
			d.phase = wantLF
			return nil
		}
		if c == '\n' && d.digits > 0 {
			d.phase = wantLF
			return d.lineFeed(b, d.pos, "CR LF after "+d.numberName())
		}
		if expected := d.addDigit(c); expected != "" {
			return d.fail(b, d.numberRule(), d.pos, expected)
		}
	}
	return ErrShort
}

// addDigit adds the next byte of a number, or returns what is expected instead.
func (d *decoder) addDigit(c byte) (expected string) {
	isLength, isDigit := d.kind != Integer, '0' <= c && c <= '9'
	switch {
	case d.pos == d.start && d.readSign(c):
		return ""
	case isLength && d.isNegative:
		return d.readMinusOne(c)
	case !isDigit:
		return d.expectedDigit(c)
	case isLength && d.num == 0 && d.digits > 0:
		return "CR LF: a length has no leading zeros"
	}
	limit := uint64(math.MaxInt64)
	if d.isNegative {
		limit++
	}
	digit := uint64(c - '0')
	if d.num > (limit-digit)/10 {
		return "a number that fits into 64 bits"
	}
	d.num = d.num*10 + digit
	d.digits++
	return ""
}

// expectedDigit returns what is expected in the place of a byte that is no digit.
func (d *decoder) expectedDigit(c byte) string {
	switch {
	case d.digits > 0:
		return "a digit or CR LF in " + d.numberName()
	case c == '?':
		return "a digit in " + d.numberName() + resp3Remark(c)
	}
	return "a digit in " + d.numberName()
}

// readSign reads the first byte of a number if it is a sign. A length has no plus.
func (d *decoder) readSign(c byte) bool {
	d.isNegative = c == '-'
	return d.isNegative || c == '+' && d.kind == Integer
}

// readMinusOne reads a byte after the minus of a length.
func (d *decoder) readMinusOne(c byte) (expected string) {
	switch {
	case d.digits > 0:
		return "CR LF after -1, the only negative length"
	case c != '1':
		return "-1, the only negative length"
	}
	d.num, d.digits = 1, 1
	return ""
}

func (d *decoder) readLF(b []byte) error {
	switch {
	case d.pos == len(b):
		return ErrShort
	case b[d.pos] != '\n':
		return d.fail(b, RuleLineEnd, d.pos, "LF after the CR of "+d.numberName())
	}
	d.pos++
	if d.pos > d.limit {
		return d.tooLongError(b, d.start)
	}
	switch d.kind {
	case BulkString:
		return d.bulkHeader(b)
	case Array:
		return d.arrayHeader(b)
	default:
		num := int64(d.num)
		if d.isNegative {
			num = -num // right for -1<<63 too: conversion and negation both wrap
		}
		d.add(node{kind: Integer, num: num})
		return nil
	}
}

func (d *decoder) bulkHeader(b []byte) error {
	switch {
	case d.isNegative:
		d.add(node{kind: NullBulk})
		return nil
	case d.num == 0 && d.depth == 0:
		if err := d.readOn(b, RuleNull, d.start, "-1 for the null bulk string"); err != nil {
			return err
		}
	case d.num > maxBulk:
		return d.fail(b, RuleLength, d.start, "a length of at most 512 MiB, which is the longest string that RESP has")
	case d.num > uint64(max(0, d.limit-d.pos-len(crlf))):
		return d.tooLongError(b, d.start)
	}
	d.start = d.pos
	d.end = d.pos + int(d.num)
	d.phase = wantPayload
	return nil
}

func (d *decoder) arrayHeader(b []byte) error {
	if d.isNegative {
		err := d.readOn(b, RuleNull, d.start-1, "$-1 for the null bulk string")
		if err == nil {
			d.add(node{kind: NullBulk})
		}
		return err
	}
	if d.num > uint64(maxElements-d.elements) || d.num > uint64((d.limit-d.pos)/minElement) {
		return d.tooLongError(b, d.start)
	}
	d.elements += int(d.num)
	d.add(node{kind: Array, num: int64(d.num)})
	return nil
}

func (d *decoder) tooLongError(b []byte, offset int) error {
	return d.fail(b, RuleTooLong, offset, "a reply of at most "+strconv.Itoa(d.limit)+
		" bytes and "+strconv.Itoa(maxElements)+" array elements")
}

func (d *decoder) numberRule() Rule {
	if d.kind == Integer {
		return RuleInteger
	}
	return RuleLength
}

func (d *decoder) numberName() string {
	if d.kind == Integer {
		return "an integer"
	}
	return "the length of " + article(d.kind)
}

func article(k Kind) string {
	switch k {
	case ErrorReply, Integer, Array:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}
