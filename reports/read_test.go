package reports

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is read back is the report that was written: the same page, the same JSON, the same outcome.
func TestReadJSON(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{
		"rich": rich(), "well": well(), "repeated": repeated(), "expected": expected(), "empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second, page, again bytes.Buffer
			o := ExitOptions{Strict: true, Require: []string{"FWP-FLUSH-02"}}
			require.NoError(t, r.WriteJSON(&first, o))
			back, err := ReadJSON(first.Bytes())
			require.NoError(t, err)
			require.NoError(t, back.WriteJSON(&second, o))
			assert.Equal(t, first.String(), second.String())
			require.NoError(t, r.Page(PageOptions{Verbose: true, Exit: o}).WriteText(&page, TextOptions{}))
			require.NoError(t, back.Page(PageOptions{Verbose: true, Exit: o}).WriteText(&again, TextOptions{}))
			assert.Equal(t, page.String(), again.String())
		})
	}
}

func TestWhatIsNoReport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "not a report in JSON",
		"[1]":                                "not a report in JSON",
		"{}":                                 `its schema is "", and "fwpcheck/3" can be read`,
		`{"schema":"fwpbench/2"}`:            `its schema is "fwpbench/2"`,
		`{"schema":"fwpcheck/3","checks":7}`: "read the report: ",
	} {
		_, err := ReadJSON([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// FuzzReadJSON: whatever is read can be shown.
func FuzzReadJSON(f *testing.F) {
	var text bytes.Buffer
	require.NoError(f, expected().WriteJSON(&text, ExitOptions{}))
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadJSON(data)
		if err != nil {
			return
		}
		var out bytes.Buffer
		require.NoError(t, r.Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
		_, _ = r.Outcome(ExitOptions{})
	})
}
