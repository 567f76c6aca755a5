package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadJSONRoundTrip(t *testing.T) {
	t.Parallel()
	full := &Load{}
	fillLoad(reflect.ValueOf(full).Elem(), new(int64))
	full.Schema = LoadSchema
	for name, l := range map[string]*Load{"sound": soundLoad(), "lossy": lossyLoad(), "invalid": invalidLoad(),
		"every field": full} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, l.WriteJSON(&out))
			back, err := readLoadJSON(bytes.NewReader(out.Bytes()))
			require.NoError(t, err)
			var again bytes.Buffer
			require.NoError(t, back.WriteJSON(&again))
			assert.Equal(t, out.String(), again.String())
			if name == "every field" {
				assert.Equal(t, l, back)
			}
		})
	}
}

// fillLoad is fill for what a Load has beyond a Report.
func fillLoad(v reflect.Value, next *int64) {
	*next++
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`{"<&>":[1,"é"]}`))
		return
	case time.Time:
		fill(v, next)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillLoad(field, next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillLoad(v.Index(0), next)
		fillLoad(v.Index(1), next)
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	default:
		fill(v, next)
	}
}

// What a server sends instead of JSON must not cost the user the report.
func TestLoadJSONBearsWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	l := &Load{Target: LoadTarget{HI: json.RawMessage("HI \xff{"), Info: json.RawMessage("{}\n{}")}}
	var out bytes.Buffer
	require.NoError(t, l.WriteJSON(&out))
	back, err := readLoadJSON(&out)
	require.NoError(t, err)
	assert.Equal(t, `"HI \ufffd{"`, string(back.Target.HI))
	assert.Equal(t, `"{}\n{}"`, string(back.Target.Info))
}

func TestReadingRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "read result: EOF"},
		{"a report of fwpcheck", `{"schema":"fwpcheck/1"}`, `read result: schema is "fwpcheck/1", want "fwpbench/2"`},
		{"no object", `[]`, "cannot unmarshal array"},
		{"a time that is none", `{"schema":"fwpbench/2","took_ns":"1"}`, "cannot unmarshal string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readLoadJSON(strings.NewReader(c.in))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestReadingPassesOverNewKeys(t *testing.T) {
	t.Parallel()
	l, err := readLoadJSON(strings.NewReader(`{"schema":"fwpbench/2","new":{"a":1},"ops":[{"op":"push","newer":1,"count":2}]}`))
	require.NoError(t, err)
	assert.Equal(t, []LoadOp{{Op: "push", Count: 2}}, l.Ops)
}

// readLoadJSON reads what Load.WriteJSON wrote, as a reader would that knows the types.
func readLoadJSON(r io.Reader) (*Load, error) {
	var l Load
	if err := json.NewDecoder(r).Decode(&l); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	if l.Schema != LoadSchema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", l.Schema, LoadSchema)
	}
	for _, raw := range []*json.RawMessage{&l.Target.HI, &l.Target.Info, &l.Plan.Workload} {
		*raw = asJSON(*raw)
	}
	return &l, nil
}
