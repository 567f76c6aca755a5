package scenarios_test

import (
	"fmt"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// A program builds a script from steps, has the lines marked that break the
// protocol, and writes it as text.
func ExampleFormat() {
	fwp := fwpdialect.Dialect{}
	refused, err := scenarios.ParseTemplate(fwp, `PUSH {"jid":"$jid"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	anyError, err := scenarios.ParseChoices(fwp, "-")
	if err != nil {
		fmt.Println(err)
		return
	}
	script := &scenarios.Script{
		Title: "A job without a type is refused", Dialect: fwp,
		Steps: []scenarios.Step{
			&scenarios.Connect{Role: scenarios.Producer},
			&scenarios.Send{Segments: refused},
			&scenarios.Expect{Choices: anyError, Marks: []scenarios.Mark{{Clause: "FWP-PUSH-02"}}},
		},
	}
	scenarios.MarkBad(script)
	fmt.Print(string(scenarios.Format(script)))
	// Output:
	// title: A job without a type is refused
	// connect as producer
	// C bad: PUSH {"jid":"$jid"}
	// clause FWP-PUSH-02
	// S: -
}
