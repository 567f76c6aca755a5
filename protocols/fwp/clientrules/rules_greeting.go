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
	const goal, protectedGoal = "a client sent its first line", "a client sent HELLO to a server that asked for a password"
	return []Rule{
		{BeforeGreeting, goal, 0, occasionsOf(Line), checkBeforeGreeting},
		{HelloNotFirst, goal, 0, occasionsOf(Line), checkFirstLine},
		{CommandUnidentified, "a client sent a command after its first line", 0, occasionsOf(Line), checkCommandUnidentified},
		{HelloVersion, "a client sent HELLO", 0, occasionsOf(Line).withVerbs(fwp.HELLO), checkVersion},
		{NewerVersionRefused, "the v of a HI was above 2", 0, occasionsOf(ConnClose), checkNewerVersion},
		{HiFieldRefused, "a HI had a field that the specification does not have", 0, occasionsOf(ConnClose), checkHiField},
		{PasswordMissing, protectedGoal, 0, occasionsOf(Line).withVerbs(fwp.HELLO), checkPasswordSent},
		{PasswordHash, protectedGoal, NeedsPassword, occasionsOf(Line).withVerbs(fwp.HELLO), checkHash},
		{
			PasswordEscaped, "a client sent HELLO to a server whose password is escaped in its URL", NeedsPassword,
			occasionsOf(Line).withVerbs(fwp.HELLO), checkPasswordEscaped,
		},
	}
}

func checkBeforeGreeting(l *observation) judgement {
	if l.conn == nil || l.conn.lines > 0 {
		return skip()
	}
	return passIf(l.conn.greeting != nil, "the client sent its first line before the server's HI")
}

func checkFirstLine(l *observation) judgement {
	if l.conn == nil || l.conn.lines > 0 {
		return skip()
	}
	return passIf(l.verb() == fwp.HELLO, "the first line is not a HELLO")
}

func checkCommandUnidentified(l *observation) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.end != nil || l.verb() == fwp.HELLO || l.verb() == fwp.END {
		return skip()
	}
	switch {
	case c.isIdentified:
		return pass()
	case c.declineReply != nil:
		return fail(moments(c.declineReply), "a command follows a HELLO that the server refused")
	case c.hello == nil:
		return fail(nil, "a command was sent on a connection without a HELLO")
	}
	return skip() // the HELLO waits for its reply: that is command-in-flight
}

func checkVersion(l *observation) judgement {
	v, ok := l.Object["v"].(json.Number)
	f, err := v.Float64()
	ok = ok && err == nil && model.IntField.Accepts(v) && f == fwp.Version
	return passIf(ok, "HELLO has the v %s, expected the integer 2", fieldText(l.Object, "v"))
}

func checkNewerVersion(l *observation) judgement {
	if l.conn == nil || l.conn.hi == nil || l.conn.hi.Version <= fwp.Version {
		return skip()
	}
	return checkGreeting(l, "the client closed the connection after a HI with v above 2")
}

func checkHiField(l *observation) judgement {
	if l.conn == nil || !l.conn.hasUnknownHiField || l.conn.hi.Version > fwp.Version {
		return skip()
	}
	return checkGreeting(l, "the client closed the connection after a HI with an unknown field")
}

// checkGreeting judges a connection that ends: its client sent HELLO, or it left because of the HI.
func checkGreeting(l *observation, text string) judgement {
	switch {
	case l.conn.lines > 0:
		return pass()
	case l.Closer != Client:
		return skip()
	}
	return fail(moments(l.conn.greeting), "%s, without a HELLO", text)
}

func checkPasswordSent(l *observation) judgement {
	if !isProtected(l) {
		return skip()
	}
	_, ok := l.Object["pwdhash"].(string)
	return passIf(ok, "HI asks for a password, but the pwdhash of HELLO is %s", fieldText(l.Object, "pwdhash"))
}

func isProtected(l *observation) bool {
	return l.conn != nil && l.conn.hi != nil && l.conn.hi.Protected && l.conn.hello == nil
}

// sentHash returns the hash of a HELLO, and whether it has one that can be judged.
func sentHash(l *observation) (hash string, ok bool) {
	if hash, ok = l.Object["pwdhash"].(string); !ok || !isProtected(l) {
		return "", false
	}
	_, err := l.world.hashPassword(l.world.cfg.Password, l.conn.hi.Salt, l.conn.hi.Iterations)
	return hash, err == nil
}

func checkHash(l *observation) judgement {
	hash, ok := sentHash(l)
	if !ok || isHashOf(l, hash, misreadings(l.world.cfg.Password)...) {
		return skip() // password-escaped has it
	}
	hi, password := l.conn.hi, l.world.cfg.Password
	reason := "is not that of the password"
	if hexHash, err := fwp.HexPasswordHash(password, hi.Salt, hi.Iterations); err == nil && hash == hexHash {
		reason = "was made from the hexadecimal text of each round instead of the raw bytes"
	}
	return failIf(!isHashOf(l, hash, password), moments(l.conn.greeting), "the pwdhash of HELLO %s", reason)
}

// checkPasswordEscaped judges a hash that is right, but for what the client takes for the password in the URL.
func checkPasswordEscaped(l *observation) judgement {
	hash, ok := sentHash(l)
	others := misreadings(l.world.cfg.Password)
	if !ok || len(others) == 0 {
		return skip()
	}
	form := "as it is escaped in the URL"
	if !isHashOf(l, hash, others[0]) {
		form = "with a space for each plus"
	}
	return failIf(isHashOf(l, hash, others...), moments(l.conn.greeting),
		"the pwdhash of HELLO is that of the password %s", form)
}

// misreadings returns what a client may take for the password that does not unescape it as URLs are: its text in the
// URL, and that with a plus for a space.
func misreadings(password string) []string {
	text := strings.TrimPrefix(url.UserPassword("", password).String(), ":")
	form, _ := url.QueryUnescape(text) // what was just escaped can be unescaped
	return slices.DeleteFunc([]string{text, form}, func(other string) bool { return other == password })
}

// isHashOf reports whether a hash is that of one of some passwords, for the greeting of the connection.
func isHashOf(l *observation, hash string, passwords ...string) bool {
	return slices.ContainsFunc(passwords, func(password string) bool {
		want, err := l.world.hashPassword(password, l.conn.hi.Salt, l.conn.hi.Iterations)
		return err == nil && strings.EqualFold(hash, want)
	})
}

// fieldText returns a field's value as JSON, or "missing".
func fieldText(fields map[string]any, name string) string {
	v, ok := fields[name]
	if !ok {
		return "missing"
	}
	return quoteAny(v)
}
