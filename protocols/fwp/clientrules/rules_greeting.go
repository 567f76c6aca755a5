package clientrules

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// greetingRules are about HI and HELLO.
func greetingRules() []Rule {
	const first, toProtected = "a client sent its first line", "a client sent HELLO to a server that asked for a password"
	return []Rule{
		{BeforeGreeting, first, 0, on(Line), checkBeforeGreeting},
		{HelloNotFirst, first, 0, on(Line), checkFirstLine},
		{CommandUnidentified, "a client sent a command after its first line", 0, on(Line), checkUnidentified},
		{HelloVersion, "a client sent HELLO", 0, on(Line).of(fwp.HELLO), checkVersion},
		{NewerVersionRefused, "the v of a HI was above 2", 0, on(Closed), checkNewerVersion},
		{HiFieldRefused, "a HI had a field that the specification does not have", 0, on(Closed), checkHiField},
		{PasswordMissing, toProtected, 0, on(Line).of(fwp.HELLO), checkPasswordSent},
		{PasswordHash, toProtected, NeedsPassword, on(Line).of(fwp.HELLO), checkHash},
		{
			PasswordEscaped, "a client sent HELLO to a server whose password is escaped in its URL", NeedsPassword,
			on(Line).of(fwp.HELLO), checkEscaped,
		},
	}
}

func checkBeforeGreeting(l *look) judgement {
	if l.conn == nil || l.conn.lines > 0 {
		return notApplicable()
	}
	return keptIf(l.conn.greeting != nil, "the client sent its first line before the server's HI")
}

func checkFirstLine(l *look) judgement {
	if l.conn == nil || l.conn.lines > 0 {
		return notApplicable()
	}
	return keptIf(l.verb() == fwp.HELLO, "the first line is not a HELLO")
}

func checkUnidentified(l *look) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.end != nil || l.verb() == fwp.HELLO || l.verb() == fwp.END {
		return notApplicable()
	}
	switch {
	case c.identified:
		return kept()
	case c.declined != nil:
		return broken(moments(c.declined), "a command follows a HELLO that the server refused")
	case c.hello == nil:
		return broken(nil, "a command was sent on a connection without a HELLO")
	}
	return notApplicable() // the HELLO waits for its reply: that is command-in-flight
}

func checkVersion(l *look) judgement {
	v, is := l.Object["v"].(json.Number)
	f, err := v.Float64()
	is = is && err == nil && model.IntField.Is(v) && f == fwp.Version
	return keptIf(is, "HELLO has the v %s, expected the integer 2", fieldText(l.Object, "v"))
}

func checkNewerVersion(l *look) judgement {
	if l.conn == nil || l.conn.hi == nil || l.conn.hi.Version <= fwp.Version {
		return notApplicable()
	}
	return checkGreets(l, "the client closed the connection after a HI with v above 2")
}

func checkHiField(l *look) judgement {
	if l.conn == nil || !l.conn.unknownInHi || l.conn.hi.Version > fwp.Version {
		return notApplicable()
	}
	return checkGreets(l, "the client closed the connection after a HI with an unknown field")
}

// checkGreets judges a connection that ends: its client sent HELLO, or it left because of the HI.
func checkGreets(l *look, text string) judgement {
	switch {
	case l.conn.lines > 0:
		return kept()
	case l.By != Client:
		return notApplicable()
	}
	return broken(moments(l.conn.greeting), "%s, without a HELLO", text)
}

func checkPasswordSent(l *look) judgement {
	if !isProtected(l) {
		return notApplicable()
	}
	_, is := l.Object["pwdhash"].(string)
	return keptIf(is, "HI asks for a password, but the pwdhash of HELLO is %s", fieldText(l.Object, "pwdhash"))
}

func isProtected(l *look) bool {
	return l.conn != nil && l.conn.hi != nil && l.conn.hi.Protected && l.conn.hello == nil
}

// hashSent returns the hash of a HELLO, and whether it has one that can be judged.
func hashSent(l *look) (hash string, is bool) {
	if hash, is = l.Object["pwdhash"].(string); !is || !isProtected(l) {
		return "", false
	}
	_, err := l.world.passwordHash(l.world.cfg.Password, l.conn.hi.Salt, l.conn.hi.Iterations)
	return hash, err == nil
}

func checkHash(l *look) judgement {
	hash, is := hashSent(l)
	if !is || isHashOf(l, hash, misread(l.world.cfg.Password)...) {
		return notApplicable() // password-escaped has it
	}
	hi, password := l.conn.hi, l.world.cfg.Password
	why := "is not that of the password"
	if hexHash, err := fwp.HexPasswordHash(password, hi.Salt, hi.Iterations); err == nil && hash == hexHash {
		why = "was made from the hexadecimal text of each round instead of the raw bytes"
	}
	return keptUnless(!isHashOf(l, hash, password), moments(l.conn.greeting), "the pwdhash of HELLO %s", why)
}

// checkEscaped judges a hash that is right, but for what the client takes for the password in the URL.
func checkEscaped(l *look) judgement {
	hash, is := hashSent(l)
	others := misread(l.world.cfg.Password)
	if !is || len(others) == 0 {
		return notApplicable()
	}
	how := "as it is escaped in the URL"
	if !isHashOf(l, hash, others[0]) {
		how = "with a space for each plus"
	}
	return keptUnless(isHashOf(l, hash, others...), moments(l.conn.greeting),
		"the pwdhash of HELLO is that of the password %s", how)
}

// misread returns what a client may take for the password that does not unescape it as URLs are: its text in the URL,
// and that with a plus for a space.
func misread(password string) []string {
	text := strings.TrimPrefix(url.UserPassword("", password).String(), ":")
	form, _ := url.QueryUnescape(text) // what was just escaped can be unescaped
	return slices.DeleteFunc([]string{text, form}, func(other string) bool { return other == password })
}

// isHashOf reports whether a hash is that of one of some passwords, for the greeting of the connection.
func isHashOf(l *look, hash string, passwords ...string) bool {
	return slices.ContainsFunc(passwords, func(password string) bool {
		want, err := l.world.passwordHash(password, l.conn.hi.Salt, l.conn.hi.Iterations)
		return err == nil && strings.EqualFold(hash, want)
	})
}

// fieldText returns a field's value as JSON, or "missing".
func fieldText(fields map[string]any, name string) string {
	v, has := fields[name]
	if !has {
		return "missing"
	}
	return quoteAny(v)
}
