package fakes_test

import "strings"

// shownClosed has a conversation for each variation that closes connections, and of INFO.
var shownClosed = map[string]string{
	"producer-counted-closed": "a: hello\n" + strings.Repeat("a> INFO\na< ^.\n", 40) + `
		a> PUSH {"jid":"j","jobtype":"t","args":[]}
		a< close
		b: worker
		b> FETCH
		b< -1`,
	"flush-closes-producers": `
		a: hello
		b: worker
		c: hello
		c> FLUSH
		c< OK
		c> INFO
		c< ^.
		d: hello
		d> INFO
		d< ^.
		a> INFO
		a< close
		b> INFO
		b< ^.`,
	"info-bytes": `
		a: worker
		a> INFO
		a< \x00`,
	"info-other-types": `
		a: worker
		a> INFO
		a< "none"`,
}
