package scenarios_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// A program builds a script. The lines that break the protocol are marked.
func ExampleBuilder() {
	b := scenarios.NewBuilder(fwpscript.Dialect{})
	b.Script.Title = "A job without a type is refused"
	b.Connect("", scenarios.Producer, "")
	b.Send("", `PUSH {"jid":"$jid"}`)
	b.Mark(scenarios.ClauseMark{Clause: "FWP-PUSH-02"})
	b.Expect("", scenarios.Window{}, "-")
	text, err := b.Text()
	if err != nil {
		fmt.Println(err)
	}
	fmt.Print(string(text))
	// Output:
	// title: A job without a type is refused
	// connect as producer
	// C bad: PUSH {"jid":"$jid"}
	// clause FWP-PUSH-02
	// S: -
}

// A script is parsed, checked, and written in its normal form.
func ExampleFormat() {
	const text = "connect as producer\n\n\n  C: push {}\n  S: -\n"
	script, err := scenarios.Parse(fwpscript.Dialect{}, "small.fwp", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, problem := range scenarios.Lint(script) {
		fmt.Println(problem.Line, problem.Message)
	}
	fmt.Print(string(scenarios.Format(script)))
	// Output:
	// 4 this line breaks the protocol: command syntax: byte 0: expected PUSH in upper case, got "push {}"
	// connect as producer
	//
	// C: push {}
	// S: -
}

// TestTheExamplesOfTheManualAreScripts keeps docs/scripts.md true, and its examples
// in the normal form.
func TestTheExamplesOfTheManualAreScripts(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../docs/scripts.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```fwp\n(.*?)```").FindAllSubmatch(manual, -1)
	require.NotEmpty(t, examples)
	for i, example := range examples {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, "example", example[1])
			require.NoError(t, err)
			assert.Empty(t, scenarios.Lint(s))
			assert.Equal(t, string(example[1]), string(scenarios.Format(s)))
		})
	}
}
