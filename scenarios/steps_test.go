package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInTurn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string // the step is its last reply
		want   bool
	}{
		"one after the other":   {"C: PUSH {}\nS: +OK\nC: FETCH q\nS: $-1\n", true},
		"repeated":              {"repeat 2\nC: PUSH {}\nS: +OK\nend\nC: FETCH q\nS: $-1\n", true},
		"a pause":               {"silence 1s\nC: FETCH q\nS: $-1\n", true},
		"two connections":       {"C[a]: PUSH {}\nS[a]: +OK\nC[b]: FETCH q\nS[b]: $-1\n", true},
		"a line meanwhile":      {"C[a]: FETCH q\nC[b]: PUSH {}\nS[b]: +OK\nS[a]: $-1\n", false},
		"two lines before":      {"C: PUSH {}\nC: PUSH {}\nS: +OK\nS: +OK\nC: FETCH q\nS: $-1\n", false},
		"a field":               {"C: PUSH {\"at\":\"$now+1s\"}\nS: +OK\nC: FETCH q\nS: $-1\n", false},
		"a field of a job":      {"C: PUSH $job{\"at\":\"$now+1s\"}\nS: +OK\nC: FETCH q\nS: $-1\n", false},
		"a verb":                {"C: FAIL {}\nS: +OK\nC: FETCH q\nS: $-1\n", false},
		"later in the block":    {"repeat 2\nC: FETCH q\nS: $-1\nC: FAIL {}\nS: +OK\nend\n", false},
		"the end of connection": {"C[a]: <close>\nC[b]: FETCH q\nS[b]: $-1\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := Parse(likeFWP{}, "x", []byte(test.script))
			require.NoError(t, err)
			var nulls []*Expect
			for step := range script.All() {
				if e, ok := step.(*Expect); ok && e.Choices[0].form.Kind == '_' {
					nulls = append(nulls, e)
				}
			}
			require.Len(t, nulls, 1)
			assert.Equal(t, test.want, script.IsSequential(nulls[0]))
		})
	}
}

func TestWhetherSomethingComesDueLater(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"C: FETCH q\nS: $-1\n":                                    false,
		"silence 1s\nC: PUSH {}\nS: +OK\n":                        false,
		"C: PUSH {\"at\":\"$now+1s\"}\nS: +OK\n":                  true,
		"table\nC[a]: FAIL {}\nS[a]: +OK\nend\n":                  true,
		"repeat 2\nC: PUSH $job{\"at\":\"$now+1s\"}\nS: +OK\nend": true,
	} {
		script, err := Parse(likeFWP{}, "x", []byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, script.Defers(), text)
	}
}
