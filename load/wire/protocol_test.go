package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/wire"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `"a\r\n"`, wire.Quote([]byte("a\r\n")))
	whole := strings.Repeat("x", 60)
	assert.Equal(t, `"`+whole+`"`, wire.Quote([]byte(whole)))
	assert.Equal(t, `"`+whole+`" `+text.Size([]byte(whole+"y")), wire.Quote([]byte(whole+"y")))
}
