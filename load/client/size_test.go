package client

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A run has thousands of them, and the engine needs most of the 8 KiB that a connection
// may take.
func TestConnectionsAreSmall(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, unsafe.Sizeof(producer{}), uintptr(512))
	assert.LessOrEqual(t, unsafe.Sizeof(churner{}), uintptr(512))
	assert.LessOrEqual(t, unsafe.Sizeof(duty{})+unsafe.Sizeof(worker{})+unsafe.Sizeof(place{}), uintptr(1024))
}
