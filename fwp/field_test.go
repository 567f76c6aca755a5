package fwp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fwp"
)

func TestFieldTypes(t *testing.T) {
	t.Parallel()
	types := []fwp.FieldType{fwp.StringField, fwp.IntField, fwp.ArrayField, fwp.StringsField, fwp.ObjectField,
		fwp.TimeField, fwp.TimeOrBlankField}
	tests := map[string]struct {
		value any
		are   []fwp.FieldType
	}{
		"null":       {nil, nil},
		"bool":       {true, nil},
		"text":       {"x", []fwp.FieldType{fwp.StringField}},
		"blank":      {"", []fwp.FieldType{fwp.StringField, fwp.TimeOrBlankField}},
		"time":       {"2026-01-02T03:04:05.6+07:00", []fwp.FieldType{fwp.StringField, fwp.TimeField, fwp.TimeOrBlankField}},
		"int":        {json.Number("1e3"), []fwp.FieldType{fwp.IntField}},
		"fraction":   {json.Number("1.5"), nil},
		"no strings": {[]any{"a", true}, []fwp.FieldType{fwp.ArrayField}},
		"strings":    {[]any{"a"}, []fwp.FieldType{fwp.ArrayField, fwp.StringsField}},
		"empty":      {[]any{}, []fwp.FieldType{fwp.ArrayField, fwp.StringsField}},
		"object":     {map[string]any{}, []fwp.FieldType{fwp.ObjectField}},
	}
	for name, test := range tests {
		var are []fwp.FieldType
		for _, typ := range types {
			if typ.Is(test.value) {
				are = append(are, typ)
			}
		}
		assert.Equal(t, test.are, are, name)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{fwp.FETCH, fwp.INFO, fwp.FLUSH, fwp.END, "push", ""} {
		assert.Empty(t, fwp.Fields(verb), verb)
	}
	for verb, want := range map[string]string{
		fwp.HELLO: "v! pwdhash hostname@ wid@ pid@ labels@",
		fwp.PUSH:  "jid! jobtype! args! queue reserve_for at retry backtrace created_at custom enqueued_at- failure-",
		fwp.ACK:   "jid!",
		fwp.FAIL:  "jid! errtype! message! backtrace!",
		fwp.BEAT:  "wid! current_state rss_kb",
	} {
		got := ""
		for _, f := range fwp.Fields(verb) {
			got += " " + f.Name
			for sign, is := range map[string]bool{"!": f.Required, "@": f.Worker, "-": f.ReadOnly} {
				if is {
					got += sign
				}
			}
		}
		assert.Equal(t, " "+want, got, verb)
	}
}
