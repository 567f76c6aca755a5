package peer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettingsOfTheEmbeddedServer(t *testing.T) {
	t.Parallel()
	c, err := fwpConfig(&Config{Settings: map[string]string{
		"salt": "s", "iterations": "2", "pwdhash": "ab", "state": "simple", "end": "close",
	}})
	require.NoError(t, err)
	assert.Equal(t, "s", c.Salt)
	assert.Equal(t, 2, c.Iterations)
	assert.Equal(t, "ab", c.AcceptHash)
	assert.True(t, c.StateAsSimple)
	assert.True(t, c.EndWithoutOK)
	assert.NotEmpty(t, c.Password)

	c, err = fwpConfig(&Config{Settings: map[string]string{"state": "bulk", "end": "ok"}})
	require.NoError(t, err)
	assert.False(t, c.StateAsSimple)
	assert.False(t, c.EndWithoutOK)
	assert.Empty(t, c.Password, "it is an open server")

	for key, value := range map[string]string{"iterations": "0", "state": "Simple", "end": ""} {
		err := Default().CheckSettings(map[string]string{key: value})
		assert.ErrorContains(t, err, key)
	}
}
