package faults

import (
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// password accepts a HELLO that is refused for a missing or wrong hash that fits accepts.
func password(fits func(e *event, hash string) bool) func(*event) {
	return do(accept, checked(fwp.HELLO), about("pwdhash"), func(e *event) bool {
		hash := e.Object.Text("pwdhash")
		return (hash != "" || e.Object.Get("pwdhash") == nil) && fits(e, hash)
	})
}

// almost accepts a hash that is near the right one.
func almost(near func(right, hash string) bool) func(*event) {
	return password(func(e *event, hash string) bool {
		return near(fakes.Hash(secret(e)+e.Conn.Salt, e.Conn.Iterations), hash)
	})
}

// hashOf accepts the hash of another text.
func hashOf(text func(password, salt string) string) func(*event) {
	return password(func(e *event, hash string) bool {
		return hash == fakes.Hash(text(secret(e), e.Conn.Salt), e.Conn.Iterations)
	})
}

func secret(e *event) string { return e.Conn.Server().Config.Password }

// unchecked accepts the HELLO of some clients whatever its hash is.
func unchecked(conditions ...condition) func(*event) {
	return do(accept, checked(fwp.HELLO), onProtected, about("v", "pwdhash"), both(conditions...))
}

// afterDeclined acts on the commands of a client whose last HELLO was declined.
func afterDeclined(act func(*event), conditions ...condition) func() func(*event) {
	hook := do(act, conditions...)
	return keep(conn, either(ran(fwp.HELLO), checked()), func(was *bool, e *event) {
		switch {
		case e.Point == fakes.Ran:
			*was = e.Err != nil && e.Conn.Iterations > 0
		case *was:
			hook(e)
		}
	})
}
