package machine

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Shortage is what ran out.
type Shortage uint8

// The kinds of shortage.
const (
	NoShortage Shortage = iota // the error means something else
	Files                      // file descriptors, of this process or of the machine
	Ports                      // local ports to connect from
	Memory                     // memory for sockets
)

// The numbers of the same errors on Windows; other systems have no numbers that high.
const (
	wsaManyFiles   = syscall.Errno(10024)
	wsaInUse       = syscall.Errno(10048) // from connect, when no local port is left
	wsaUnavailable = syscall.Errno(10049)
	wsaNoBuffers   = syscall.Errno(10055)
)

var numbers = map[Shortage][]syscall.Errno{
	Files:  {syscall.EMFILE, syscall.ENFILE, wsaManyFiles},
	Ports:  {syscall.EADDRNOTAVAIL, wsaInUse, wsaUnavailable},
	Memory: {syscall.ENOBUFS, syscall.ENOMEM, wsaNoBuffers},
}

// ShortageOf returns the shortage that err, or an error that it wraps, is about. It returns NoShortage for nil. A
// machine without IPv6 has the same error for each such address as one without a free port: there it is NoShortage.
func ShortageOf(err error) Shortage {
	number, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return NoShortage
	}
	for kind, codes := range numbers {
		if slices.Contains(codes, number) && (kind != Ports || !toIPv6(err)) {
			return kind
		}
	}
	return NoShortage
}

// toIPv6 reports whether err is that of a connection to an IPv6 address.
func toIPv6(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return false
	}
	to, ok := failed.Addr.(*net.TCPAddr)
	return ok && to.IP.To4() == nil
}

// String returns the name of what ran out: "file descriptors". It is empty for NoShortage.
func (k Shortage) String() string {
	return [...]string{"", "file descriptors", "local ports", "memory for sockets"}[k]
}

// Advice returns what the user can do about it, in one clause without a full stop. It is empty for NoShortage.
func (k Shortage) Advice() string {
	return [...]string{
		"",
		"raise the limit (ulimit -n; as root ulimit -Hn, LimitNOFILE of a service, --ulimit nofile of a container), or use " +
			"fewer connections",
		"widen net.ipv4.ip_local_port_range, or spread the connections over several addresses",
		"give the machine more memory, or use fewer connections",
	}[k]
}

// Explain returns err in words for the user if it is a shortage: that this machine, and not the server, ran out of
// something, and what to do. It returns "" for every other error.
func Explain(err error) string {
	kind := ShortageOf(err)
	if kind == NoShortage {
		return ""
	}
	return "this process is out of " + kind.String() + " (" + text.OfError(err) + "): " + kind.Advice()
}

type watchKey struct{}

// Watch returns a copy of ctx that ends with the first shortage that is given to [Notice], and a function
// that releases it. A connection that could not be opened for want of something says nothing about the
// server, so a run ends there.
func Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	return context.WithValue(ctx, watchKey{}, end), func() { end(nil) }
}

// Notice ends the context of [Watch], if ctx is one below it and err is a shortage. It returns err.
func Notice(ctx context.Context, err error) error {
	if end, ok := ctx.Value(watchKey{}).(context.CancelCauseFunc); ok && ShortageOf(err) != NoShortage {
		end(err)
	}
	return err
}

// Cause returns the shortage that has ended ctx in words, see [Explain]; "" if none has.
func Cause(ctx context.Context) string { return Explain(context.Cause(ctx)) }
