package monitor

import (
	"encoding/json"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// greetingRules are about HI and HELLO.
func greetingRules() []Rule {
	return []Rule{
		{
			Breach: BeforeGreeting, Goal: "a client sent its first line",
			on: on(Line), check: func(l *look) judgement {
				if l.conn == nil || l.conn.lines > 0 {
					return aside()
				}
				return rightIf(l.conn.greeting != nil, "the client sent its first line before the server's HI")
			},
		},
		{
			Breach: HelloNotFirst, Goal: "a client sent its first line",
			on: on(Line), check: func(l *look) judgement {
				if l.conn == nil || l.conn.lines > 0 {
					return aside()
				}
				return rightIf(l.verb() == fwp.HELLO, "the first line is not a HELLO")
			},
		},
		{
			Breach: CommandUnidentified, Goal: "a client sent a command after its first line",
			on: on(Line), check: checkUnidentified,
		},
		{
			Breach: HelloVersion, Goal: "a client sent HELLO",
			on: on(Line, fwp.HELLO), check: func(l *look) judgement {
				v, is := l.Object["v"].(json.Number)
				f, err := v.Float64()
				is = is && err == nil && fwp.IntField.Is(v) && f == fwp.Version
				return rightIf(is, "HELLO has the v %s, and the integer 2 was expected", fieldText(l.Object, "v"))
			},
		},
		{
			Breach: NewerVersionRefused, Goal: "the v of a HI was above 2",
			on: on(Closed), check: func(l *look) judgement {
				if l.conn == nil || l.conn.hi == nil || l.conn.hi.Version <= fwp.Version {
					return aside()
				}
				return greetedAnyway(l, "the client closed the connection after a HI with v above 2")
			},
		},
		{
			Breach: HiFieldRefused, Goal: "a HI had a field that the specification does not have",
			on: on(Closed), check: func(l *look) judgement {
				if l.conn == nil || !l.conn.strangeHi || l.conn.hi.Version > fwp.Version {
					return aside()
				}
				return greetedAnyway(l, "the client closed the connection after a HI with an unknown field")
			},
		},
		{
			Breach: PasswordMissing, Goal: "a client sent HELLO to a server that asked for a password",
			on: on(Line, fwp.HELLO), check: func(l *look) judgement {
				if !isProtected(l) {
					return aside()
				}
				_, is := l.Object["pwdhash"].(string)
				return rightIf(is, "HI asks for a password, and the pwdhash of HELLO is %s", fieldText(l.Object, "pwdhash"))
			},
		},
		{
			Breach: PasswordHash, Goal: "a client sent HELLO to a server that asked for a password", Needs: NeedsPassword,
			on: on(Line, fwp.HELLO), check: checkHash,
		},
	}
}

func checkUnidentified(l *look) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.unjudged || c.end != nil || l.verb() == fwp.HELLO || l.verb() == fwp.END {
		return aside()
	}
	switch {
	case c.identified:
		return right()
	case c.declined != nil:
		return wrong([]Moment{*c.declined}, "a command follows a HELLO that the server declined")
	case c.hello == nil:
		return wrong(nil, "a command was sent on a connection without a HELLO")
	}
	return aside() // the HELLO waits for its reply: that is command-in-flight
}

// greetedAnyway judges a connection that ends: its client sent HELLO, or it left because of the HI.
func greetedAnyway(l *look, text string) judgement {
	switch {
	case l.conn.lines > 0:
		return right()
	case l.By != Client:
		return aside()
	}
	return wrong([]Moment{*l.conn.greeting}, "%s, without a HELLO", text)
}

func isProtected(l *look) bool {
	return l.conn != nil && l.conn.hi != nil && l.conn.hi.Protected && l.conn.hello == nil
}

func checkHash(l *look) judgement {
	hash, is := l.Object["pwdhash"].(string)
	if !is || !isProtected(l) {
		return aside()
	}
	hi := l.conn.hi
	want, err := l.world.passwordHash(hi.Salt, hi.Iterations)
	if err != nil {
		return aside()
	}
	if strings.EqualFold(hash, want) {
		return right()
	}
	why := "is not that of the password"
	if hexHash, err := fwp.HexPasswordHash(l.world.cfg.Password, hi.Salt, hi.Iterations); err == nil && hash == hexHash {
		why = "was made from the hexadecimal text of each round, and the raw bytes were expected"
	}
	return wrong([]Moment{*l.conn.greeting}, "the pwdhash of HELLO %s", why)
}

// fieldText returns a field's value as JSON, or "missing".
func fieldText(fields map[string]any, name string) string {
	v, has := fields[name]
	if !has {
		return "missing"
	}
	return quoteAny(v)
}
