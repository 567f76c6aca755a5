package suite_test

import (
	"fmt"

	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// ClauseOf returns the clause of a breach by its name.
func ExampleClauseOf() {
	id := fwpsuite.ClauseOf("lost")
	clause, _ := fwpsuite.ClauseByID(id)
	fmt.Println(id, clause.Level)
	fmt.Println(fwpsuite.ClauseOf("foreign-reply:FETCH"))
	// Output:
	// FWP-PUSH-04 derived
	// FWP-FETCH-01
}
