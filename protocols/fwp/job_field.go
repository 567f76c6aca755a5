package fwp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// jobField connects a JSON key with a field of a Job: one of text, number and raw.
type jobField struct {
	name       string
	isRequired bool
	text       *string
	number     **int64
	raw        *json.RawMessage
	firstByte  byte // the first byte of a raw value; 0: any value
}

// set reads a value from raw.
func (f jobField) set(raw json.RawMessage) (err error) {
	switch {
	case f.text != nil:
		*f.text, err = stringValue(raw)
		return err
	case f.number != nil:
		n, err := integerValue(raw)
		*f.number = &n
		return err
	}
	*f.raw = raw
	return f.checkShape(raw)
}

func (f jobField) checkShape(raw json.RawMessage) error {
	switch {
	case f.firstByte == '[' && raw[0] != '[':
		return fmt.Errorf("expected an array, got %s", excerpt(raw, "nothing"))
	case f.firstByte == '{' && raw[0] != '{':
		return fmt.Errorf("expected an object, got %s", excerpt(raw, "nothing"))
	}
	return nil
}

func (f jobField) isOmitted() bool {
	switch {
	case f.isRequired:
		return false
	case f.text != nil:
		return *f.text == ""
	case f.number != nil:
		return *f.number == nil
	}
	return *f.raw == nil
}

// append appends the key and the value to an object.
func (f jobField) append(dst []byte) ([]byte, error) {
	dst, err := appendString(dst, f.name)
	if err != nil {
		return dst, err
	}
	dst = append(dst, ':')
	switch {
	case f.text != nil:
		return appendString(dst, *f.text)
	case f.number != nil:
		return strconv.AppendInt(dst, **f.number, 10), nil
	}
	return f.appendRaw(dst)
}

func (f jobField) appendRaw(dst []byte) ([]byte, error) {
	raw := *f.raw
	if raw == nil {
		raw = json.RawMessage("[]") // args, the only required raw field
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return dst, err
	}
	if err := f.checkShape(compact.Bytes()); err != nil {
		return dst, err
	}
	return append(dst, compact.Bytes()...), nil
}

func appendString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, errors.New("not UTF-8 text")
	}
	return appendJSON(dst, s)
}

// extraFields lists extra by name and refuses the names of the fields of a Job.
func extraFields(extra map[string]json.RawMessage, jobFields []jobField) ([]jobField, error) {
	for _, f := range jobFields {
		if _, found := extra[f.name]; found {
			return nil, fmt.Errorf("%s: stands in Extra and has a field of its own", f.name)
		}
	}
	fields := make([]jobField, 0, len(extra))
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		raw := extra[name]
		if raw == nil {
			raw = json.RawMessage("null")
		}
		fields = append(fields, jobField{name: name, raw: &raw})
	}
	return fields, nil
}
