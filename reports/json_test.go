package reports

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	full := &Report{}
	fill(reflect.ValueOf(full).Elem(), new(int64))
	full.Schema = Schema
	for name, r := range map[string]*Report{"rich": rich(), "expected": expected(), "every field": full} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, r.WriteJSON(&out, ExitOptions{}))
			back, want := new(Report), r.whole(ExitOptions{})
			for i := range want.Checks {
				want.Checks[i].Findings = nil // in JSON they are symptoms
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), back))
			assert.Equal(t, want, back)
		})
	}
}

// fill sets every field below v to a value of its own, so that a field which JSON forgets is noticed.
func fill(v reflect.Value, next *int64) {
	*next++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(*next, 123456789).UTC()))
		return
	case Verdict:
		v.SetUint(uint64(*next)%9 + 1)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), next)
		fill(v.Index(1), next)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type())) // it is computed
	case reflect.String:
		v.SetString(strings.Repeat("<&>é\u2028\x00", int(*next%3+1)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*next*1_000_003 + 1)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*next))
	default:
		panic("fill: " + v.Type().String())
	}
}

func TestJSONFormat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, rich().WriteJSON(&out, ExitOptions{}))
	text := out.String()
	assert.True(t, strings.HasPrefix(text, "{\n  \"schema\": \"fwpcheck/3\",\n  \"version\": \"fwpcheck 0.1.0\",\n"),
		text[:80])
	assert.True(t, strings.HasSuffix(text, "\n}\n"))
	assert.Contains(t, text, `\"jobtype\":\"<b>&'\\u001b\"`, "no escapes for HTML")
	assert.Contains(t, text, `"seed": "18446744073709551557"`)
	assert.Contains(t, text, `"took_ns": 12345678901,`)
	assert.Contains(t, text, `"at_ns": 312000`)
	assert.NotContains(t, text, "_ms")
	local := rich()
	local.Started = local.Started.In(time.FixedZone("east", 7200))
	out.Reset()
	require.NoError(t, local.WriteJSON(&out, ExitOptions{}))
	assert.Equal(t, text, out.String(), "times are in UTC")
	out.Reset()
	require.NoError(t, (&Report{}).WriteJSON(&out, ExitOptions{}))
	assert.Contains(t, out.String(), `"checks": []`)
	assert.Contains(t, out.String(), `"clauses": []`)
	assert.NotContains(t, out.String(), "started")
}

func TestAVerdictThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, json.Unmarshal([]byte(`{"checks":[{"verdict":"green"}]}`), new(Report)),
		`verdict "green" is unknown`)
}

// Whoever puts a part of a report into a JSON of their own gets the same keys.
func TestPartsMarshalAlike(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[string]any{"line": Line{At: 1500 * time.Microsecond, From: FromClient, Text: "INFO"}})
	require.NoError(t, err)
	assert.Equal(t, `{"line":{"at_ns":1500000,"from":"client","text":"INFO"}}`, string(text))
}
