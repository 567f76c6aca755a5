//go:build !linux

package engine

import (
	"errors"
	"fmt"
)

// NewEpoll returns an error that is errors.ErrUnsupported: only Linux has epoll.
func NewEpoll(Config) (Engine, error) {
	return nil, fmt.Errorf("the epoll engine needs Linux: %w", errors.ErrUnsupported)
}
