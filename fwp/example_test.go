package fwp_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// Replies are read strictly: an error names the rule, the byte, and what belongs there.
func ExampleReader() {
	in := fwp.NewReader(strings.NewReader("+OK\r\n$2\r\n{}\r\n-ERR no\n"), 0)
	for {
		reply, err := in.Read()
		if err != nil {
			var wrong *fwp.SyntaxError
			fmt.Println(errors.As(err, &wrong), err)
			return
		}
		fmt.Printf("%s %q\n", reply.Kind, reply.Text)
	}
	// Output:
	// simple string "OK"
	// bulk string "{}"
	// true reply syntax (line end): byte 20: expected CR LF at the end of an error, not LF alone, got "\n" after "-ERR no"
}

func ExampleParseCommand() {
	command, err := fwp.ParseCommand([]byte("FETCH critical default"))
	fmt.Printf("%s %q %v\n", command.Verb, command.Args, err)
	_, err = fwp.ParseCommand([]byte("FETCH  critical"))
	fmt.Println(err)
	// Output:
	// FETCH "critical default" <nil>
	// command syntax: byte 6: expected a queue name after one space, got " critical"
}

// The hash that a client sends to a server that asks for a password.
func ExamplePasswordHash() {
	hash, err := fwp.PasswordHash("foobar", "55104dc76695721d", 1545)
	fmt.Println(hash, err)
	// Output:
	// 6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30 <nil>
}
