package text

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
	"strings"
	"time"
)

// OfError returns the message of an error for users: what the Go library says of networks, numbers and JSON in it is
// said in words that name the place and the cause. All else stays as it is. It returns "" for nil.
func OfError(err error) string {
	if err == nil {
		return ""
	}
	if plain := plainText(err); plain != "" {
		return plain
	}
	words := err.Error()
	for _, cause := range causes(err) {
		words = strings.ReplaceAll(words, cause.Error(), OfError(cause))
	}
	return words
}

// causes returns the errors that an error wraps itself.
func causes(err error) []error {
	switch wraps := err.(type) { //nolint:errorlint // OfError looks at each error of the tree
	case interface{ Unwrap() error }:
		if cause := wraps.Unwrap(); cause != nil {
			return []error{cause}
		}
	case interface{ Unwrap() []error }:
		return wraps.Unwrap()
	}
	return nil
}

// plainText returns the words for an error of the Go library; "" for any other.
func plainText(err error) string {
	switch e := err.(type) { //nolint:errorlint // as above
	case *net.OpError:
		if e.Addr == nil {
			return OfError(e.Err)
		}
		return e.Addr.String() + ": " + OfError(e.Err)
	case *os.SyscallError:
		return OfError(e.Err)
	case *net.DNSError:
		if e.IsTimeout {
			return e.Name + ": " + OfError(context.DeadlineExceeded)
		}
		return e.Name + ": " + e.Err
	case *url.Error:
		return OfError(e.Err)
	}
	if words := ofText(err); words != "" || causes(err) != nil {
		return words
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "unexpected end"
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	}
	return ""
}

// ofText returns the words for an error about a text that is no number, time, base64 or JSON; "" for any other.
func ofText(err error) string {
	switch e := err.(type) { //nolint:errorlint // as above
	case *strconv.NumError:
		if errors.Is(e, strconv.ErrRange) {
			return strconv.Quote(e.Num) + " is out of range"
		}
		return strconv.Quote(e.Num) + " is not a valid number"
	case *time.ParseError:
		return strconv.Quote(e.Value) + " is not a time as in 2026-11-23T02:00:00Z"
	case base64.CorruptInputError:
		return fmt.Sprintf("invalid base64 at byte %d", int64(e))
	case *json.SyntaxError:
		if strings.HasPrefix(e.Error(), "unexpected end") {
			return OfError(io.ErrUnexpectedEOF)
		}
		return fmt.Sprintf("invalid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("the value of %q must not be a %s", e.Field, e.Value)
	}
	return ""
}
