package text_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func TestOfError(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
	}
	_, number := strconv.Atoi("x")
	_, large := strconv.Atoi("99999999999999999999")
	_, instant := time.Parse(time.RFC3339, "yesterday")
	_, coded := base64.StdEncoding.DecodeString("!")
	_, address := url.Parse("tcp://[") //nolint:staticcheck // it is wrong on purpose
	unknown := &net.OpError{Err: &net.DNSError{Name: "b", Err: "no such host"}}
	var into struct{ A int }
	for want, err := range map[string]error{
		"":                                       nil,
		"as it is":                               errors.New("as it is"),
		"127.0.0.1:1: connection refused":        refused,
		"first: 127.0.0.1:1: connection refused": fmt.Errorf("first: %w", refused),
		"a\nsecond: 127.0.0.1:1: timeout": errors.Join(errors.New("a"), fmt.Errorf("second: %w",
			&net.OpError{Op: "read", Addr: refused.Addr, Err: os.ErrDeadlineExceeded})),
		"b: no such host":                                      unknown,
		"a.example: timeout":                                   &net.DNSError{Name: "a.example", IsTimeout: true},
		`"x" is not a valid number`:                            number,
		`"99999999999999999999" is out of range`:               large,
		`"yesterday" is not a time as in 2026-11-23T02:00:00Z`: instant,
		"invalid base64 at byte 0":                             coded,
		"missing ']' in host":                                  address,
		"a.json: unexpected end":                               fmt.Errorf("a.json: %w", json.Unmarshal([]byte("{"), &into)),
		"invalid JSON at byte 2":                               json.Unmarshal([]byte("{]"), &into),
		`the value of "A" must not be a string`:                json.Unmarshal([]byte(`{"A":"b"}`), &into),
		"the line: unexpected end":                             fmt.Errorf("the line: %w", io.ErrUnexpectedEOF),
		"it was interrupted":                                   context.Canceled,
		"timeout":                                              context.DeadlineExceeded,
		"write a: no space left on device":                     &os.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC},
	} {
		assert.Equal(t, want, text.OfError(err))
	}
}
