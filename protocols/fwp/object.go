package fwp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// members splits a JSON object. It exists because encoding/json ignores the case of the
// keys of structs, accepts a second key of the same name, and does not keep unknown
// keys. Values are copies of the bytes.
func members(data []byte) (map[string]json.RawMessage, error) {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return nil, fmt.Errorf("expected a JSON object, got %s", excerpt(data, "nothing"))
	}
	d := json.NewDecoder(bytes.NewReader(data)) // which finds no error: the data is valid
	_, _ = d.Token()
	all := map[string]json.RawMessage{}
	for d.More() {
		before := d.InputOffset()
		token, _ := d.Token()
		key, _ := token.(string)
		if !utf8.Valid(data[before:d.InputOffset()]) {
			return nil, fmt.Errorf("key %s is not UTF-8", excerpt([]byte(key), `""`))
		}
		if _, isRepeated := all[key]; isRepeated {
			return nil, fmt.Errorf("key %s occurs twice", excerpt([]byte(key), `""`))
		}
		var value json.RawMessage
		_ = d.Decode(&value)
		all[key] = value
	}
	return all, nil
}

// stringValue reads a JSON string. Bytes that are not UTF-8 are an error, because
// encoding/json would replace them.
func stringValue(raw json.RawMessage) (string, error) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", fmt.Errorf("expected a string, got %s", excerpt(raw, "nothing"))
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("expected UTF-8 text, got %s", excerpt(raw, "nothing"))
	}
	return s, nil
}

// integerValue reads a JSON number that is written as an integer and fits into 64
// bits; 1.0 and 1e3 are not.
func integerValue(raw json.RawMessage) (int64, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a 64-bit integer, got %s", excerpt(raw, "nothing"))
	}
	return n, nil
}

// intValue is integerValue for fields that are an int in Go.
func intValue(raw json.RawMessage) (int, error) {
	n, err := integerValue(raw)
	if err == nil && int64(int(n)) != n {
		return 0, fmt.Errorf("expected a %d-bit integer, got %s", strconv.IntSize, excerpt(raw, "nothing"))
	}
	return int(n), err
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// appendJSON appends v without the HTML escapes of json.Marshal.
func appendJSON(dst []byte, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...), nil
}
