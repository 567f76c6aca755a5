package values

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// text is a row of a table of texts: what it is, and the text as it stands between the quotes of JSON.
type text struct{ name, inner string }

// scripts are writing systems, planes and kinds of characters.
var scripts = []text{
	{"Latin-1", "ÀÿÆð¼"}, {"Latin Extended", "Łőžǆ"}, {"Greek", "Ωμέγα"}, {"Cyrillic", "Жизнь"}, {"Hebrew", "שלום"},
	{"Arabic", "مرحبا"}, {"Devanagari", "नमस्ते"}, {"Thai", "สวัสดี"}, {"Georgian", "გამარჯობა"}, {"Hangul", "안녕"},
	{"Hangul by letters", "\u1112\u1161\u11ab"}, {"Han", "漢字"}, {"Kana", "ひらカタ"}, {"half width", "ｶﾞＡ"},
	{"symbols", "€™∑→♥☃"}, {"emoji", "😀🎉"}, {"emoji joined", "👩\u200d👩\u200d👧"}, {"emoji with a tone", "👍🏽"},
	{"flag", "🇩🇪"}, {"keycap", "1\ufe0f\u20e3"}, {"Gothic", "𐌰𐌱"}, {"plane 2", "\U00020000\U0002f800"},
	{"plane 14", "\U000e0041\U000e007f"}, {"private use", "\ue000\uf8ff"}, {"plane 16", "\U0010fffd"},
	{"last of the BMP", "\ud7ff\ue000\ufffd"}, {"no characters", "\ufffe\uffff\U0001fffe"},
	{"combining alone", "\u0301\u0323"}, {"many combining", "a" + strings.Repeat("\u0301", 20)},
}

// forms are texts that are alike under a normal form, by case or by width.
var forms = []text{
	{"composed", "\u00e9\u00c5\u1e9b\u0323"}, {"decomposed", "e\u0301A\u030a\u017f\u0323\u0307"},
	{"compatible", "\ufb01\u2460\u00b2\u212b\u2126"}, {"upper case", "ABCÄÖÜ"}, {"lower case", "abcäöü"},
	{"case of Turkish", "Iıİi"}, {"sharp s", "ßẞss"}, {"final sigma", "Σσς"}, {"title case", "ǅǈ"}, {"Kelvin", "\u212aK"},
	{"look-alikes", "aа"}, {"minus signs", "-‐−–"}, {"quotes", "'’‘“”`"},
}

// spaces are texts with white space, and with characters that show nothing.
var spaces = []text{
	{"empty", ""}, {"a space", " "}, {"spaces around", "  both  "}, {"spaces between", "a  b   c"}, {"tabs", `\ta\tb\t`},
	{"line feed last", `a\n`}, {"line feeds", `\n\na\n\nb`}, {"carriage return", `a\rb`}, {"CRLF", `a\r\nb\r\n`},
	{"vertical tab", `a\u000bb\u000c`}, {"no-break space", "\u00a0a\u00a0"}, {"wide space", "\u3000a\u2003"},
	{"line separators", "a\u2028b\u2029c\u0085d"}, {"byte order mark", "\ufeffa\ufeff"},
	{"zero width", "a\u200b\u200c\u2060b"},
	{"soft hyphen", "a\u00adb"}, {"directions", "\u202eabc\u202c\u200f\u2066"},
}

// escapes are the ways in which JSON writes characters.
var escapes = []text{
	{"escaped quote", `\"a\"`}, {"escaped backslash", `a\\b\\`}, {"backslash before n", `a\\nb`},
	{"escaped slash", `a\/b`},
	{"short escapes", `\b\f\n\r\t`}, {"escaped letter", `\u0041\u0062`}, {"escaped in capitals", `\u00E9\uABCD`},
	{"escaped in small letters", `\u00e9\uabcd`}, {"escaped pair", `\ud83d\ude00`},
	{"escaped pair in capitals", `\uD834\uDD1E`},
	{"null character", `a\u0000b`}, {"delete", "a\u007fb"}, {"written escape", `\\u0041`}, {"angle brackets", `<&>'`},
	{"escaped angle brackets", `\u003c\u0026\u003e`}, {"escaped separators", `\u2028\u2029`},
}

// syntaxes are texts that something on the way might take for more than text.
var syntaxes = []text{
	{"integer", "17"}, {"zeros before", "007"}, {"exponent", "1e3"}, {"hexadecimal", "0x1F"}, {"infinity", "Infinity"},
	{"no number", "NaN"}, {"true", "true"}, {"false", "false"}, {"null", "null"}, {"nil", "nil"},
	{"time", "2026-01-02T03:04:05Z"},
	{"date", "2026-01-02"}, {"object", `{\"a\":1}`}, {"array", `[1,2]`}, {"HTML", `<b>&amp;</b>`},
	{"SQL", `'; DROP TABLE x; --`},
	{"shell", "$(x) `x` ~ ; |"}, {"format", "%s %d %% %20"}, {"template", "{{x}} #{x} ${x}"},
	{"percent-encoded", "a%20b%2Fc"},
	{"plus", "a+b c"}, {"base64", "aGVsbG8="}, {"base64 with two signs", "aGVsbA=="},
	{"UUID in capitals", "0F8FAD5B-D9CB-469F-A165-70867728950E"}, {"path", "../a/./b//c"}, {"Windows path", `C:\\a\\b`},
	{"URL", "tcp://:p@h:1/?q=1#f"},
	{"colon", "a:b::c"}, {"commas", "a,b,,c"}, {"dots", "a.b..c"}, {"pipe", "a|b"}, {"equals", "a=b&c=d"},
	{"wildcards", "a*b?[c]"},
	{"simple string", `+OK\r\n`}, {"error reply", `-ERR x\r\n`}, {"bulk string", `$3\r\nabc\r\n`}, {"null bulk", "$-1"},
	{"array reply", `*1\r\n`}, {"command", `END\r\n`}, {"comment", "/* a */ // b # c"}, {"YAML", "- a: &b *b"},
}

// Texts returns texts of every category, plane and normal form of Unicode, escape of JSON and kind of white space, and
// those that look like something else.
func Texts() (all []Bucket) {
	for _, list := range [][]text{scripts, forms, spaces, escapes, syntaxes} {
		for _, t := range list {
			all = append(all, fixedBucket(t.name, `"`+t.inner+`"`))
		}
	}
	for c := range 0x20 {
		all = append(all, fixedBucket(fmt.Sprintf("control %d", c), fmt.Sprintf(`"a\u%04xb"`, c)))
	}
	return append(all, Bucket{"printable", func(r *rand.Rand) string {
		var b strings.Builder
		for _, c := range r.Perm(0x7f - 0x20) {
			b.WriteByte(byte(0x20 + c))
		}
		return Quote(b.String())
	}})
}

// Lengths returns texts around the borders of lengths in bytes, up to most: letters, and characters of several bytes.
func Lengths(limit int) []Bucket {
	all := sizedBuckets("length", limit, func(r *rand.Rand, n int) string { return `"` + letters(r, n) + `"` })
	return append(all, sizedBuckets("length in bytes", limit, func(r *rand.Rand, n int) string {
		text := []byte(`"` + letters(r, n%3))
		for range n / 3 {
			text = utf8.AppendRune(text, rune(0x4e00+r.IntN(0x5000)))
		}
		return string(append(text, '"'))
	})...)
}

// Plain returns buckets of texts as they are without quotes and escapes.
func Plain(texts []Bucket) []Bucket {
	all := make([]Bucket, len(texts))
	for i, b := range texts {
		all[i] = Bucket{b.Name, func(r *rand.Rand) (text string) {
			_ = json.Unmarshal([]byte(b.Make(r)), &text) // it is one
			return text
		}}
	}
	return all
}

// Quote returns a text as JSON, in which only that is escaped which must be.
func Quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always can be
	return strings.TrimSuffix(b.String(), "\n")
}
