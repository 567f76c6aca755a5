package moves

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// mutateBytes changes one to four places.
func (g *maker) mutateBytes(t explore.Tokens) explore.Tokens {
	for range 1 + g.IntN(4) {
		if len(t) == 0 {
			return explore.Tokens{"\n"}
		}
		t = choose(g, mutations)(g, t, g.IntN(len(t)))
	}
	return t
}

// mutations change a text at one place; they never change the tokens that they are given.
var mutations = []func(g *maker, t explore.Tokens, at int) explore.Tokens{
	(*maker).flip, (*maker).flip, (*maker).replace, (*maker).remove, (*maker).remove,
	(*maker).insert, (*maker).insert, (*maker).repeatToken, (*maker).move,
	(*maker).repeatBeginning, (*maker).truncate, (*maker).replaceNumber, (*maker).insertFiller,
}

// flip changes one bit, if there is a byte.
func (g *maker) flip(t explore.Tokens, at int) explore.Tokens {
	if len(t[at]) > 1 {
		return g.replace(t, at)
	}
	return t.Put(at, at+1, string([]byte{t[at][0] ^ 1<<g.IntN(8)}))
}

// replace puts any byte in the place of a token.
func (g *maker) replace(t explore.Tokens, at int) explore.Tokens {
	return t.Put(at, at+1, string([]byte{byte(g.IntN(256))}))
}

// remove takes a few tokens away.
func (g *maker) remove(t explore.Tokens, at int) explore.Tokens {
	return t.Put(at, min(len(t), at+1+g.IntN(4)))
}

// fragments are texts that some parsers do not expect.
var fragments = []string{
	"\r", "\n", "\r\n", "\n\r", "\r\r\n", "\x00", "\x1a", "\x7f", "\xff", "\xc3", "\xed\xa0\x80", "\xef\xbb\xbf",
	"é", "\u2028",
	" ", "\t", "\v", "{", "}", "[", "]", "\"", "\\", `\u0000`, `\ud800`, ",", ":", "+OK\r\n", "$-1\r\n",
	"*1\r\n$4\r\nINFO\r\n",
}

// insert puts a fragment into the text.
func (g *maker) insert(t explore.Tokens, at int) explore.Tokens {
	return t.Put(at, at, strings.Split(choose(g, fragments), "")...)
}

// repeatToken repeats one token, often many times.
func (g *maker) repeatToken(t explore.Tokens, at int) explore.Tokens {
	return t.Put(at, at, slices.Repeat(t[at:at+1], 1+g.IntN(choose(g, []int{3, 100, 2000})))...)
}

// move takes a piece out and puts it elsewhere.
func (g *maker) move(t explore.Tokens, at int) explore.Tokens {
	end := min(len(t), at+1+g.IntN(20))
	piece, rest := slices.Clone(t[at:end]), t.Put(at, end)
	to := g.IntN(len(rest) + 1)
	return rest.Put(to, to, piece...)
}

// repeatBeginning appends what stands before a place.
func (g *maker) repeatBeginning(t explore.Tokens, at int) explore.Tokens {
	return slices.Concat(t, t[:at])
}

// truncate cuts the text at a place.
func (g *maker) truncate(t explore.Tokens, at int) explore.Tokens { return slices.Clone(t[:at]) }

// numbers are those at the edges of types, and such that are none in JSON.
var numbers = []string{
	"-1", "-0", "0", "00", "1e1", "1e999", "1e-999", "-1e999", "2147483648", "4294967296", "9007199254740993",
	"9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
	"0x10", "1_000", "NaN", "Infinity", "+1", ".5", "1.", strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1",
}

// replaceNumber puts another number in the place of the next one.
func (g *maker) replaceNumber(t explore.Tokens, at int) explore.Tokens {
	digit := func(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }
	i := slices.IndexFunc(t[at:], digit)
	if i < 0 {
		return g.insert(t, at)
	}
	from, to := at+i, at+i
	for to < len(t) && digit(t[to]) {
		to++
	}
	return t.Put(from, to, strings.Split(choose(g, numbers), "")...)
}

// insertFiller makes a line very long; now and then a few megabytes.
func (g *maker) insertFiller(t explore.Tokens, at int) explore.Tokens {
	size := choose(g, []string{"$filler(5KiB)", "$filler(70KiB)"})
	if g.Round > 1000 && g.IntN(30) == 0 { // not in the first seconds, that is never in a short check
		size = "$filler(2048KiB)"
	}
	return t.Put(at, at, size)
}
