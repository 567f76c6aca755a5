package values_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/values"
)

// types are all types, with what each of their values must be beside one line of JSON.
var types = map[string]struct {
	buckets []values.Bucket
	matches func(v any) bool
}{
	"integers": {values.Integers(-1<<63, 1<<63-1), func(v any) bool {
		_, err := v.(json.Number).Int64()
		return err == nil
	}},
	"numbers": {values.Numbers(), func(v any) bool { _, ok := v.(json.Number); return ok }},
	"texts":   {values.Texts(), func(v any) bool { _, ok := v.(string); return ok }},
	"lengths": {values.Lengths(300), func(v any) bool { s, ok := v.(string); return ok && len(s) <= 300 }},
	"instants": {values.Instants(), func(v any) bool {
		_, err := number.ParseTime(v.(string))
		return err == nil
	}},
	"arrays":  {values.Arrays(300, 20), func(v any) bool { _, ok := v.([]any); return ok }},
	"objects": {values.Objects(300, 20), func(v any) bool { _, ok := v.(map[string]any); return ok }},
	"strings": {values.Strings(20, values.Texts()), func(v any) bool {
		all, ok := v.([]any)
		return ok && !slices.ContainsFunc(all, func(e any) bool { _, ok := e.(string); return !ok })
	}},
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	for name, test := range types {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := map[string]bool{}
			for _, b := range test.buckets {
				assert.False(t, names[b.Name], "two buckets are called %q", b.Name)
				names[b.Name] = true
				text := b.Make(rand.New(rand.NewPCG(1, 2)))
				assert.Equal(t, text, b.Make(rand.New(rand.NewPCG(1, 2))), "the same source, the same value of %q", b.Name)
				assert.True(t, utf8.ValidString(text), b.Name)
				assert.NotContains(t, text, "\n", b.Name)
				d := json.NewDecoder(strings.NewReader(text))
				d.UseNumber()
				var v any
				if assert.NoError(t, d.Decode(&v), "%q: %s", b.Name, text) {
					assert.True(t, test.matches(v), "%q: %s", b.Name, text)
				}
			}
		})
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33}, values.Sizes(50))
	for _, n := range []int{99, 100, 101, 255, 256, 257, 4095, 4096, 65537, 100_001} {
		assert.Contains(t, values.Sizes(1<<17), n)
	}
}

func TestSizedValuesHaveTheirSize(t *testing.T) {
	t.Parallel()
	for _, b := range values.Lengths(1025) {
		text := b.Make(rand.New(rand.NewPCG(3, 4)))
		words := strings.Fields(b.Name)
		assert.Equal(t, words[len(words)-1], strconv.Itoa(len(text)-2), b.Name)
	}
}

// What a narrower type would hold of it is another integer of the range.
func TestIntegersThatNarrowerTypesHold(t *testing.T) {
	t.Parallel()
	for bits, narrow := range map[int]func(int64) int64{
		8: func(n int64) int64 { return int64(uint8(n)) }, 16: func(n int64) int64 { return int64(uint16(n)) },
		32: func(n int64) int64 { return int64(uint32(n)) },
	} {
		assert.True(t, slices.ContainsFunc(values.Integers(60, 1<<40), func(b values.Bucket) bool {
			n, err := json.Number(b.Name).Int64()
			return err == nil && n >= 1<<bits && narrow(n) >= 60 && narrow(n) != n
		}), "%d bits", bits)
	}
}
