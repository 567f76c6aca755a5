package shared

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOneOf(t *testing.T) {
	t.Parallel()
	o := NewOneOf("auto", "always", "never")
	assert.Equal(t, "auto", o.String())
	assert.NoError(t, o.Set("never"))
	assert.Equal(t, "never", o.String())
	assert.EqualError(t, o.Set("nevr"), "expected auto or always or never; did you mean never?")
	assert.EqualError(t, o.Set(""), "expected auto or always or never")
	assert.Equal(t, "never", o.String())
}
