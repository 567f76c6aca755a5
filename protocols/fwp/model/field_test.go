package model_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

func TestFieldTypes(t *testing.T) {
	t.Parallel()
	types := []model.FieldType{model.StringField, model.IntField, model.ArrayField, model.StringsField, model.ObjectField,
		model.TimeField, model.TimeOrBlankField}
	tests := map[string]struct {
		value any
		are   []model.FieldType
	}{
		"null":  {nil, nil},
		"bool":  {true, nil},
		"text":  {"x", []model.FieldType{model.StringField}},
		"blank": {"", []model.FieldType{model.StringField, model.TimeOrBlankField}},
		"time": {"2026-01-02T03:04:05.6+07:00",
			[]model.FieldType{model.StringField, model.TimeField, model.TimeOrBlankField}},
		"int":        {json.Number("1e3"), []model.FieldType{model.IntField}},
		"fraction":   {json.Number("1.5"), nil},
		"no strings": {[]any{"a", true}, []model.FieldType{model.ArrayField}},
		"strings":    {[]any{"a"}, []model.FieldType{model.ArrayField, model.StringsField}},
		"empty":      {[]any{}, []model.FieldType{model.ArrayField, model.StringsField}},
		"object":     {map[string]any{}, []model.FieldType{model.ObjectField}},
	}
	for name, test := range tests {
		var are []model.FieldType
		for _, typ := range types {
			if typ.Accepts(test.value) {
				are = append(are, typ)
			}
		}
		assert.Equal(t, test.are, are, name)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{fwp.FETCH, fwp.INFO, fwp.FLUSH, fwp.END, "push", ""} {
		assert.Empty(t, model.Fields(verb), verb)
	}
	for verb, want := range map[string]string{
		fwp.HELLO: "v! pwdhash hostname@ wid@ pid@ labels@",
		fwp.PUSH:  "jid! jobtype! args! queue reserve_for at retry backtrace created_at custom enqueued_at- failure-",
		fwp.ACK:   "jid!",
		fwp.FAIL:  "jid! errtype! message! backtrace!",
		fwp.BEAT:  "wid! current_state rss_kb",
	} {
		got := ""
		for _, f := range model.Fields(verb) {
			got += " " + f.Name
			for sign, isSet := range map[string]bool{"!": f.Required, "@": f.IsWorkerField, "-": f.ReadOnly} {
				if isSet {
					got += sign
				}
			}
		}
		assert.Equal(t, " "+want, got, verb)
	}
}
