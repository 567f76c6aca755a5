package shared

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A control command has to be told what to do, in either of two ways; without one there is nothing to tell.
func TestControlIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	for command, isValid := range map[string]bool{
		"": true, "ctl {action}": true, "ctl $FWP_ACTION": true, "ctl": false, "ctl {wid}": false,
	} {
		flags := OperatorFlags{command}
		assert.Equal(t, isValid, flags.Apply(&Endpoint{}) == nil, "%q", command)
	}
}
