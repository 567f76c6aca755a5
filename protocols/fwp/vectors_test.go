package fwp_test

import (
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// legalReplies are replies as bytes, written by hand, and what they mean.
var legalReplies = []struct {
	bytes string
	want  fwp.Reply
}{
	{"+OK\r\n", simple("OK")},
	{"+\r\n", simple("")},
	{"+HI {\"v\":2}\r\n", simple(`HI {"v":2}`)},
	{"+HI {\"v\":2,\"s\":\"123456789abc\",\"i\":1735}\r\n", simple(`HI {"v":2,"s":"123456789abc","i":1735}`)},
	{"+h\xc3\xa9 \x00\xff\r\n", simple("h\xc3\xa9 \x00\xff")},
	{"-ERR no such thing\r\n", fwp.Reply{Kind: fwp.ErrorReply, Text: []byte("ERR no such thing")}},
	{"-\r\n", fwp.Reply{Kind: fwp.ErrorReply, Text: []byte{}}},
	{"$-1\r\n", fwp.Reply{Kind: fwp.NullBulk}},
	{"$5\r\nhello\r\n", bulk("hello")},
	{"$1\r\n\r\r\n", bulk("\r")},
	{"$2\r\n\r\n\r\n", bulk("\r\n")},
	{"$4\r\n\r\n\r\n\r\n", bulk("\r\n\r\n")},
	{"$6\r\nh\xc3\xa9llo\r\n", bulk("h\xc3\xa9llo")},
	{"$4\r\n\xf0\x9f\x98\x80\r\n", bulk("\xf0\x9f\x98\x80")},
	{"$3\r\n\x00\xff\n\r\n", bulk("\x00\xff\n")},
	{"$17\r\n{\"state\": \"quiet\"\r\n", bulk(`{"state": "quiet"`)},
	{":0\r\n", integer(0)},
	{":-0\r\n", integer(0)},
	{":+7\r\n", integer(7)},
	{":007\r\n", integer(7)},
	{":-1\r\n", integer(-1)},
	{":9007199254740993\r\n", integer(9007199254740993)},
	{":9223372036854775807\r\n", integer(9223372036854775807)},
	{":-9223372036854775808\r\n", integer(-9223372036854775808)},
	{"*0\r\n", array()},
	{"*1\r\n+OK\r\n", array(simple("OK"))},
	{"*3\r\n$0\r\n\r\n$-1\r\n:5\r\n", array(bulk(""), fwp.Reply{Kind: fwp.NullBulk}, integer(5))},
	{"*3\r\n*2\r\n+a\r\n*0\r\n$1\r\nb\r\n*1\r\n-c\r\n", array(
		array(simple("a"), array()), bulk("b"), array(fwp.Reply{Kind: fwp.ErrorReply, Text: []byte("c")}))},
	{strings.Repeat("*1\r\n", 8) + ":1\r\n",
		array(array(array(array(array(array(array(array(integer(1)))))))))},
}

// brokenReplies are bytes that no server may send. All of them but the truncated ones are
// broken however they go on, and where they are cut does not change the verdict.
var brokenReplies = []struct {
	bytes    string
	rule     fwp.Rule
	offset   int64
	expected string
	got      string
}{
	// no RESP at all
	{"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n", fwp.RuleType, 0, anyType,
		`"HTTP/1.1 400 Bad Request\r\nConnec"...`},
	{"\x15\x03\x01\x00\x02\x02\x46", fwp.RuleType, 0, anyType, `"\x15\x03\x01\x00\x02\x02F"`},
	{"\r\n", fwp.RuleType, 0, anyType, `"\r\n"`},
	{" +OK\r\n", fwp.RuleType, 0, anyType, `" +OK\r\n"`},
	{"OK\r\n", fwp.RuleType, 0, anyType, `"OK\r\n"`},
	{"=5\r\ntxt:a\r\n", fwp.RuleType, 0, anyType + " (= is the verbatim string of RESP3)", `"=5\r\ntxt:a\r\n"`},
	{"_\r\n", fwp.RuleType, 0, anyType + " (_ is the null of RESP3)", `"_\r\n"`},
	{"%1\r\n", fwp.RuleType, 0, anyType + " (% is the map of RESP3)", `"%1\r\n"`},

	// simple strings and errors
	{"+OK\n", fwp.RuleLineEnd, 3, "CR LF at the end of a simple string, not LF alone", `"\n" after "+OK"`},
	{"+O\nK\r\n", fwp.RuleLineEnd, 2, "CR LF at the end of a simple string, not LF alone", `"\nK\r\n" after "+O"`},
	{"+O\rK\r\n", fwp.RuleTextBreak, 2, "no CR in a simple string before the CR LF that ends it", `"\rK\r\n" after "+O"`},
	{"+OK\r\r\n", fwp.RuleTextBreak, 3, "no CR in a simple string before the CR LF that ends it", `"\r\r\n" after "+OK"`},
	{"-ERR unknown FOO\r\r\n", fwp.RuleTextBreak, 16, "no CR in an error before the CR LF that ends it",
		`"\r\r\n" after "-ERR unknown FOO"`},
	{"-ERR is unknown: FOO\n", fwp.RuleLineEnd, 20, "CR LF at the end of an error, not LF alone",
		`"\n" after ..." is unknown: FOO"`},

	// lengths
	{"$\r\n", fwp.RuleLength, 1, "a digit in the length of a bulk string", `"\r\n" after "$"`},
	{"$ 5\r\nhello\r\n", fwp.RuleLength, 1, "a digit in the length of a bulk string", `" 5\r\nhello\r\n" after "$"`},
	{"$5 \r\nhello\r\n", fwp.RuleLength, 2, "a digit or CR LF in the length of a bulk string",
		`" \r\nhello\r\n" after "$5"`},
	{"$5x", fwp.RuleLength, 2, "a digit or CR LF in the length of a bulk string", `"x" after "$5"`},
	{"$+5\r\n", fwp.RuleLength, 1, "a digit in the length of a bulk string", `"+5\r\n" after "$"`},
	{"$05\r\n", fwp.RuleLength, 2, "CR LF: a length has no leading zeros", `"5\r\n" after "$0"`},
	{"$00\r\n", fwp.RuleLength, 2, "CR LF: a length has no leading zeros", `"0\r\n" after "$0"`},
	{"$-0\r\n", fwp.RuleLength, 2, "-1, the only negative length", `"0\r\n" after "$-"`},
	{"$-2\r\n", fwp.RuleLength, 2, "-1, the only negative length", `"2\r\n" after "$-"`},
	{"$-\r\n", fwp.RuleLength, 2, "-1, the only negative length", `"\r\n" after "$-"`},
	{"$--1\r\n", fwp.RuleLength, 2, "-1, the only negative length", `"-1\r\n" after "$-"`},
	{"$-10\r\n", fwp.RuleLength, 3, "CR LF after -1, the only negative length", `"0\r\n" after "$-1"`},
	{"$-1x", fwp.RuleLength, 3, "CR LF after -1, the only negative length", `"x" after "$-1"`},
	{"$0x5\r\n", fwp.RuleLength, 2, "a digit or CR LF in the length of a bulk string", `"x5\r\n" after "$0"`},
	{"$9223372036854775808\r\n", fwp.RuleLength, 19, "a number that fits into 64 bits",
		`"8\r\n" after ..."2337203685477580"`},
	{"$18446744073709551617\r\n", fwp.RuleLength, 20, "", `"7\r\n" after ..."4674407370955161"`},
	{"*x\r\n", fwp.RuleLength, 1, "a digit in the length of an array", `"x\r\n" after "*"`},
	{"*-2\r\n", fwp.RuleLength, 2, "-1, the only negative length", `"2\r\n" after "*-"`},
	{"*01\r\n", fwp.RuleLength, 2, "CR LF: a length has no leading zeros", `"1\r\n" after "*0"`},

	// line ends of numbers
	{"$5\nhello\n", fwp.RuleLineEnd, 2, "CR LF after the length of a bulk string", `"\nhello\n" after "$5"`},
	{"$-1\n", fwp.RuleLineEnd, 3, "CR LF after the length of a bulk string", `"\n" after "$-1"`},
	{"$5\rhello", fwp.RuleLineEnd, 3, "LF after the CR of the length of a bulk string", `"hello" after "$5\r"`},
	{"*1\n", fwp.RuleLineEnd, 2, "CR LF after the length of an array", `"\n" after "*1"`},
	{":1\n", fwp.RuleLineEnd, 2, "CR LF after an integer", `"\n" after ":1"`},
	{":1\r:", fwp.RuleLineEnd, 3, "LF after the CR of an integer", `":" after ":1\r"`},

	// ends of bulk strings
	{"$5\r\nhello+OK\r\n", fwp.RuleBulkEnd, 9, "CR LF after a bulk string of 5 bytes", `"+OK\r\n" after "$5\r\nhello"`},
	{"$5\r\nhello\n", fwp.RuleBulkEnd, 9, "CR LF after a bulk string of 5 bytes", `"\n" after "$5\r\nhello"`},
	{"$5\r\nhello\rx", fwp.RuleBulkEnd, 10, "CR LF after a bulk string of 5 bytes", `"x" after "$5\r\nhello\r"`},
	{"$4\r\nhello\r\n", fwp.RuleBulkEnd, 8, "CR LF after a bulk string of 4 bytes", `"o\r\n" after "$4\r\nhell"`},
	{"$6\r\nhello\r\n+OK\r\n", fwp.RuleBulkEnd, 10, "CR LF after a bulk string of 6 bytes",
		`"\n+OK\r\n" after "$6\r\nhello\r"; the first CR LF comes after 5 bytes`},
	{"$7\r\nhello\r\n+OK\r\n", fwp.RuleBulkEnd, 11, "CR LF after a bulk string of 7 bytes",
		`"+OK\r\n" after "$7\r\nhello\r\n"; the first CR LF comes after 5 bytes`},
	{"$5\r\nh\xc3\xa9llo world\r\n", fwp.RuleBulkEnd, 9, "CR LF after a bulk string of 5 bytes",
		`"o world\r\n" after "$5\r\nhéll"`},
	{"$8\r\nh\xc3\xa9 w\xc3\xb6\xc3\xa4\r\n", fwp.RuleBulkEnd, 12, "CR LF after a bulk string of 8 bytes",
		`"\xa4\r\n" after "$8\r\nhé wö\xc3"; the first CR LF comes after 9 bytes`},

	// lengths in characters
	{"$5\r\nh\xc3\xa9llo\r\n", fwp.RuleCharacters, 9, "CR LF after a bulk string of 5 bytes",
		`"o\r\n" after "$5\r\nhéll"; the text before the first CR LF has 5 characters in 6 bytes`},
	{"$1\r\n\xf0\x9f\x98\x80\r\n", fwp.RuleCharacters, 5, "CR LF after a bulk string of 1 bytes",
		`"\x9f\x98\x80\r\n" after "$1\r\n\xf0"; the text before the first CR LF has 1 characters in 4 bytes`},
	{"$2\r\n\xc3\xa9\xff\r\n", fwp.RuleCharacters, 6, "CR LF after a bulk string of 2 bytes",
		`"\xff\r\n" after "$2\r\né"; the text before the first CR LF has 2 characters in 3 bytes`},
	{"$3\r\n\xc3\xa9\ra\r\n", fwp.RuleCharacters, 7, "CR LF after a bulk string of 3 bytes",
		`"a\r\n" after "$3\r\né\r"; the text before the first CR LF has 3 characters in 4 bytes`},
	{"*2\r\n:1\r\n$2\r\n\xc3\xa9a\r\n", fwp.RuleCharacters, 14, "CR LF after a bulk string of 2 bytes",
		`"a\r\n" after "*2\r\n:1\r\n$2\r\né"; the text before the first CR LF has 2 characters in 3 bytes`},

	{"$200\r\n" + strings.Repeat("\xc3\xa9", 130), fwp.RuleBulkEnd, 206, "CR LF after a bulk string of 200 bytes", ""},

	// nulls
	{"$0\r\n\r\n", fwp.RuleNull, 1, "-1 for the null bulk string", `"0\r\n\r\n" after "$"`},
	{"*-1\r\n", fwp.RuleNull, 0, "$-1 for the null bulk string", `"*-1\r\n"`},
	{"*1\r\n*-1\r\n", fwp.RuleNull, 4, "$-1 for the null bulk string", `"*-1\r\n" after "*1\r\n"`},

	// integers
	{":\r\n", fwp.RuleInteger, 1, "a digit in an integer", `"\r\n" after ":"`},
	{": 1\r\n", fwp.RuleInteger, 1, "a digit in an integer", `" 1\r\n" after ":"`},
	{":1 \r\n", fwp.RuleInteger, 2, "a digit or CR LF in an integer", `" \r\n" after ":1"`},
	{":-\r\n", fwp.RuleInteger, 2, "a digit in an integer", `"\r\n" after ":-"`},
	{":+-1\r\n", fwp.RuleInteger, 2, "a digit in an integer", `"-1\r\n" after ":+"`},
	{":1.5\r\n", fwp.RuleInteger, 2, "a digit or CR LF in an integer", `".5\r\n" after ":1"`},
	{":9223372036854775808\r\n", fwp.RuleInteger, 19, "a number that fits into 64 bits", ""},
	{":-9223372036854775809\r\n", fwp.RuleInteger, 20, "a number that fits into 64 bits", ""},

	// limits of ours (the limit of these tests is 256)
	{"$257\r\n", fwp.RuleTooLong, 1, "a reply of at most 256 bytes and 65536 array elements", `"257\r\n" after "$"`},
	{"$249\r\n", fwp.RuleTooLong, 1, "", `"249\r\n" after "$"`},
	{"$536870913\r\n", fwp.RuleLength, 1, "", `"536870913\r\n" after "$"`},
	{"$536870912\r\n", fwp.RuleTooLong, 1, "", `"536870912\r\n" after "$"`},
	{"$?\r\n", fwp.RuleLength, 1, "a digit in the length of a bulk string (? is the stream of RESP3)",
		`"?\r\n" after "$"`},
	{"$9223372036854775807\r\n", fwp.RuleLength, 1, "", `"9223372036854775807\r\n" after "$"`},
	{"*9223372036854775807\r\n", fwp.RuleTooLong, 1, "", `"9223372036854775807\r\n" after "*"`},
	{"*84\r\n", fwp.RuleTooLong, 1, "", `"84\r\n" after "*"`},
	{"+" + strings.Repeat("x", 254), fwp.RuleTooLong, 254, "", `"x" after ..."xxxxxxxxxxxxxxxx"`},
	{"*2\r\n$242\r\n" + strings.Repeat("x", 242) + "\r\n:1\r\n", fwp.RuleTooLong, 254, "", ""},
	{":" + strings.Repeat("0", 260) + "\r\n", fwp.RuleTooLong, 1, "", ""},
	{strings.Repeat("*1\r\n", 9), fwp.RuleDepth, 32, "arrays nested at most 8 deep",
		`"*1\r\n" after ..."*1\r\n*1\r\n*1\r\n*1\r\n"`},
}

const (
	anyType = "a reply, which starts with one of + - : $ *"
	limit   = 256
)

func simple(text string) fwp.Reply { return fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)} }
func bulk(text string) fwp.Reply   { return fwp.Reply{Kind: fwp.BulkString, Text: []byte(text)} }
func integer(n int64) fwp.Reply    { return fwp.Reply{Kind: fwp.Integer, Int: n} }
func array(e ...fwp.Reply) fwp.Reply {
	return fwp.Reply{Kind: fwp.Array, Array: append([]fwp.Reply{}, e...)}
}
