package number_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/number"
)

func TestEqual(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 6000)
	tests := []struct {
		a, b string
		want bool
	}{
		{"1", "1", true},
		{"1", "1.0", true},
		{"1e3", "1000", true},
		{"-0", "0", true},
		{"0.1", "0.10", true},
		{"1", "2", false},
		{"9007199254740993", "9007199254740992", false},
		{"18446744073709551616", "18446744073709551616.0", true},
		{"0.1", "0.1000000000000000055511151231257827", false},
		{"1e5000", "10e4999", true},
		{"1e5001", "10e5000", false},
		{"1e5001", "1e5001", true},
		{"1e-999999999", "0", false},
		{"1e99999999999999999999", "1", false},
		{long, long, true},
		{long, long + ".0", false},
		{"x", "x", true},
		{"x", "1", false},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, number.Equal(json.Number(test.a), json.Number(test.b)), "%.20s %.20s", test.a, test.b)
		assert.Equal(t, test.want, number.Equal(json.Number(test.b), json.Number(test.a)), "%.20s %.20s", test.b, test.a)
	}
}

func TestIsInt(t *testing.T) {
	t.Parallel()
	for n, want := range map[string]bool{
		"1": true, "-1": true, "1.0": true, "1e3": true, "10e-1": true, "1.5": false, "1e-1": false, "1e6000": false,
		"x": false,
	} {
		assert.Equal(t, want, number.IsInt(json.Number(n)), n)
	}
}

func TestNoNumberCostsMuch(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	for _, n := range []string{"1e2147483647", "1e-2147483648", "1E+999999999", strings.Repeat("1", 1<<20)} {
		assert.False(t, number.Equal(json.Number(n), "1"))
	}
	assert.Less(t, time.Since(begin), 10*time.Second)
}

func TestExceeds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`[1,1,1,1]`: true, `HI [1,1,1,1]`: true, `{"a":1,"b":2}`: true, `[[[[[`: true,
		`[1]`: false, `[1,1,1]`: false, `["[,,,,"]`: false, `["\\",","]`: false, `AAAAAAAAAA`: false,
	} {
		assert.Equal(t, want, number.Exceeds([]byte(text), 4), text)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	v, err := number.Decode([]byte(` {"a":[1.0,9007199254740993]} `))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": []any{json.Number("1.0"), json.Number("9007199254740993")}}, v)
	for text, want := range map[string]string{
		"":     "not JSON: EOF",
		"{":    "not JSON: unexpected EOF",
		"{} 1": "more text after the JSON value",
		"{}}":  "more text after the JSON value",
	} {
		_, err := number.Decode([]byte(text))
		assert.EqualError(t, err, want, text)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	assert.Equal(t, map[string]any{"a": json.Number("1.0")}, number.Object([]byte(` {"a":1.0} `)))
	assert.Equal(t, map[string]any{}, number.Object([]byte(`{}`)))
	for _, text := range []string{"", "null", "[]", "{", "{}}", "{} {}"} {
		assert.Nil(t, number.Object([]byte(text)), text)
	}
}

// TestEqualValues: values are compared as deep as they go, and their numbers by the function.
func TestEqualValues(t *testing.T) {
	t.Parallel()
	always := func(json.Number, json.Number) bool { return true }
	for _, test := range []struct {
		a, b                string
		isEqual, isSameKind bool
	}{
		{`[1,{"a":[null,true,"x"]}]`, `[1.0,{"a":[null,true,"x"]}]`, true, true},
		{`[1,2]`, `[1,3]`, false, true},
		{`[1,2]`, `[1]`, false, false},
		{`{"a":1}`, `{"b":1}`, false, false},
		{`1`, `"1"`, false, false},
		{`{"a":[]}`, `{"a":{}}`, false, false},
		{`null`, `false`, false, false},
	} {
		a, errA := number.Decode([]byte(test.a))
		b, errB := number.Decode([]byte(test.b))
		require.NoError(t, errors.Join(errA, errB))
		assert.Equal(t, test.isEqual, number.EqualValues(a, b, number.Equal), test)
		assert.Equal(t, test.isSameKind, number.EqualValues(a, b, always), test)
	}
}
