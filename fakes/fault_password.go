package fakes

import (
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// nearFaults accept a password hash that is almost the right one.
func nearFaults() []Fault {
	almost := func(near func(right, hash string) bool) func(*Event) {
		return password(func(e *Event, hash string) bool {
			return near(hashed(e.Conn.server.cfg.Password+e.Conn.Salt, e.Conn.Iterations), hash)
		})
	}
	of := func(text func(password, salt string) string) func(*Event) {
		return password(func(e *Event, hash string) bool {
			return hash == hashed(text(e.Conn.server.cfg.Password, e.Conn.Salt), e.Conn.Iterations)
		})
	}
	return []Fault{
		fault("auth-hash-begins", "AUTH-03",
			"a hash of which some digits are missing at the end is accepted too",
			almost(func(right, hash string) bool { return hash != "" && strings.HasPrefix(right, hash) })),
		fault("auth-hash-half", "AUTH-03",
			"only the first half of the hash is compared",
			almost(func(right, hash string) bool { return strings.HasPrefix(hash, right[:32]) })),
		fault("auth-hash-longer", "AUTH-03",
			"digits behind the hash are ignored",
			almost(func(right, hash string) bool { return strings.HasPrefix(hash, right) })),
		fault("auth-hash-but-first", "AUTH-03",
			"the first digit of the hash is not compared",
			almost(func(right, hash string) bool { return hash != "" && hash[1:] == right[1:] })),
		fault("auth-hash-empty", "AUTH-02 HELLO-04",
			"an empty hash is accepted",
			password(func(e *Event, hash string) bool { return hash == "" })),
		fault("auth-salt-first", "AUTH-03",
			"the hash of the salt followed by the password is accepted too",
			of(func(password, salt string) string { return salt + password })),
		fault("auth-salt-ignored", "AUTH-03",
			"the hash of the password without the salt is accepted too",
			of(func(password, _ string) string { return password })),
		fault("auth-password-ignored", "AUTH-04",
			"the hash of the salt alone is accepted too",
			of(func(_, salt string) string { return salt })),
		fault("auth-password-cut", "AUTH-04",
			"the hash of the password without its last character is accepted too",
			of(func(password, salt string) string { return password[:len(password)-1] + salt })),
	}
}

// crossedFaults do not check the password of a HELLO with certain fields.
func crossedFaults() []Fault {
	unchecked := func(which func(*Object) bool) func(*Event) {
		return when(Checked, fwp.HELLO, func(e *Event) {
			if about := e.about(); e.Conn.Iterations > 0 && (about == "v" || about == "pwdhash") && which(e.Object) {
				e.accept()
			}
		})
	}
	version := func(o *Object) int64 {
		v, _ := o.Int("v")
		return v
	}
	return []Fault{
		fault("auth-version-missing", "AUTH-04 AUTH-02 AUTH-03",
			"a HELLO without v is accepted with any hash, and without one",
			unchecked(func(o *Object) bool { return o.Get("v") == nil })),
		fault("auth-version-lower", "AUTH-04 AUTH-02 AUTH-03",
			"a HELLO whose v is 1 is accepted with any hash, and without one",
			unchecked(func(o *Object) bool { return version(o) == 1 })),
		fault("auth-version-higher", "AUTH-04 AUTH-02 AUTH-03",
			"a HELLO whose v is above 2 is accepted with any hash, and without one",
			unchecked(func(o *Object) bool { return version(o) > 2 })),
		fault("auth-consumer-unchecked", "AUTH-04 AUTH-02 HELLO-04",
			"the HELLO of a consumer is accepted with any hash, and without one",
			unchecked(func(o *Object) bool { return o.Get("wid") != nil })),
		fault("auth-consumer-unversioned", "AUTH-04",
			"the HELLO of a consumer without v is accepted with any hash",
			unchecked(func(o *Object) bool { return o.Get("wid") != nil && o.Get("v") == nil && o.Get("pwdhash") != nil })),
	}
}

// declined calls act at Checked for each command that follows a HELLO which was declined.
func declined(act func(e *Event)) func() func(*Event) {
	return func() func(*Event) {
		var once notes[int64, bool]
		return func(e *Event) {
			switch {
			case e.Point == Ran && e.Command.Verb == fwp.HELLO:
				once.put(e.Conn.ID, e.Err != nil && e.Conn.Iterations > 0)
			case e.Point == Checked:
				if is, _ := once.take(e.Conn.ID); is {
					once.put(e.Conn.ID, true)
					act(e)
				}
			}
		}
	}
}

// declinedFaults serve a client whose HELLO was declined.
func declinedFaults() []Fault {
	serve := func(verb string) func(e *Event) {
		return func(e *Event) {
			if e.Command.Verb == verb && e.about() == AboutState {
				e.accept()
			}
		}
	}
	return []Fault{
		statefulFault("auth-declined-served", "AUTH-06",
			"a client whose HELLO was declined is served every command",
			declined(func(e *Event) {
				if e.about() == AboutState {
					e.accept()
				}
			})),
		statefulFault("auth-declined-info", "AUTH-06",
			"a client whose HELLO was declined is served INFO",
			declined(serve(fwp.INFO))),
		statefulFault("auth-declined-fetch", "AUTH-06",
			"a client whose HELLO was declined is served FETCH",
			declined(serve(fwp.FETCH))),
		statefulFault("auth-declined-push", "AUTH-06 PUSH-03",
			"a PUSH after a HELLO that was declined is refused and enqueued",
			declined(func(e *Event) {
				if e.Command.Verb == fwp.PUSH && e.about() == AboutState {
					e.Skip = false
				}
			})),
		statefulFault("auth-second-hello", "AUTH-04",
			"the second HELLO of a connection is accepted with any hash",
			declined(func(e *Event) {
				if e.Command.Verb == fwp.HELLO && e.about() == "pwdhash" {
					e.accept()
				}
			})),
		statefulFault("auth-declined-for-good", "STATE-12",
			"a connection whose hash was declined is not accepted with the right one", declinedForGood),
	}
}

func declinedForGood() func(*Event) {
	var declined notes[int64, bool]
	return when(Checked, fwp.HELLO, func(e *Event) {
		is, _ := declined.take(e.Conn.ID)
		if e.about() == "pwdhash" || is {
			declined.put(e.Conn.ID, true)
		}
		if is && e.Err == nil {
			e.decline("pwdhash", "the password was wrong")
		}
	})
}
