package variations

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Every variation in Go is in the file that has the first word of its name: the comment of All has the words.
func TestAVariationIsInTheFileOfItsWord(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("variations.go")
	require.NoError(t, err)
	rows, count := regexp.MustCompile(`(?m)^\t+(?:variation|setting)\("([a-z0-9]+)(-[a-z0-9-]+)",`), 0
	for _, line := range regexp.MustCompile(`(?m)^//\t([a-z]+\.go) +([a-z, ]+)`).FindAllStringSubmatch(string(doc), -1) {
		source, err := os.ReadFile(line[1])
		require.NoError(t, err)
		words := strings.Split(strings.TrimSpace(line[2]), ", ")
		for _, row := range rows.FindAllStringSubmatch(string(source), -1) {
			assert.Contains(t, words, row[1], row[1]+row[2])
			count++
		}
	}
	ruled := catalogue.RuledVariations(variationsTable(), fakes.Rules(), func(*fakes.Config) *func(*event) { return nil })
	assert.Len(t, All(), count+len(ruled))
}

func TestNamed(t *testing.T) {
	t.Parallel()
	v, ok := Lookup("retries-soon")
	assert.True(t, ok)
	assert.Equal(t, "retries-soon", v.Name)
	_, ok = Lookup("nothing")
	assert.False(t, ok)
}

func TestHashesWithAMemberTwice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":1,"a":2}`: true, `{"a":1,"b":"a"}`: false, `[{"a":{"b":1}},{"a":{"b":1}}]`: false, `{"a":"a","b":["b"]}`: false,
		`{"a":[1,{"x":{},"x":[]}],"b":1e999}`: true, `{"a":1e999,"b":1,"a":3}`: true, `[]`: false, `"a"`: false,
		`{"a":`: false,
	} {
		assert.Equal(t, want, hasMemberTwice([]byte(text)), text)
	}
}

// A jid that was used is known until a FLUSH.
func TestUsedBefore(t *testing.T) {
	t.Parallel()
	job, err := fakes.ParseObject([]byte(`{"jid":"j"}`))
	require.NoError(t, err)
	hook := actOnUsedJID(atPoint(fakes.Checked, fwp.PUSH), skip)()
	var skipped []bool
	for _, point := range []fakes.Point{fakes.Checked, fakes.Checked, fakes.Flushed, fakes.Checked, fakes.Checked} {
		e := &event{Point: point, Command: fwp.Command{Verb: fwp.PUSH}, Object: job}
		hook(e)
		skipped = append(skipped, e.Skip)
	}
	assert.Equal(t, []bool{false, true, false, false, true}, skipped)
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`1`: 0, `{"a":[[]]}`: 3, `[[],[]]`: 2, `["[[\"["]`: 1} {
		assert.Equal(t, want, depth([]byte(text)), text)
	}
}

func TestHalfCharacters(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`PUSH {"a":"\ud83d"}`: true, `PUSH {"a":"\ud83d\ude00"}`: false, `PUSH {"a":"\udE00x"}`: true,
		`PUSH {"a":"x"}`: false,
	} {
		assert.Equal(t, want, hasHalfCharacter([]byte(line)), line)
	}
}

func TestDoubles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[9007199254740993]`: `[9007199254740993]`, `[18446744073709551617]`: `[1.8446744073709552e+19]`, `[1.50]`: `[1.5]`,
		`{"a":[-0]}`: `{"a":[-0]}`, `[1e999]`: `[1e999]`,
	} {
		value, err := decode([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(style{}.append(nil, doubles(value))), text)
	}
}

// [catalogue.VariationOf] panics if a row has both.
func TestEachRowHasARuleOrIsInGo(t *testing.T) {
	t.Parallel()
	assert.Len(t, variationsTable(), len(All())+len(Snapshots()))
}
