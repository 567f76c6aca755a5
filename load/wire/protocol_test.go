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
	content := strings.Repeat("x", 60)
	assert.Equal(t, `"`+content+`"`, wire.Quote([]byte(content)))
	assert.Equal(t, `"`+content+`" `+text.Size([]byte(content+"y")), wire.Quote([]byte(content+"y")))
}
