package fakes_test

import (
	"bufio"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

func ExampleNewServer() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()

	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	in.Scan()
	fmt.Println(in.Text())
	fmt.Fprint(conn, "HELLO {\"v\":2}\r\n")
	in.Scan()
	fmt.Println(in.Text())
	// Output:
	// +HI {"v":2}
	// +OK
}

// A server that refuses every PUSH to one queue.
func ExampleNewServer_hook() {
	server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Judged && e.Command.Verb == fwp.PUSH && e.Object.Text("queue") == "closed" {
			e.Err, e.Skip = &fakes.Refusal{About: "queue", Text: "this queue is closed"}, true
		}
	}})
	defer server.Close()

	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	in.Scan()
	fmt.Fprint(conn, "HELLO {\"v\":2}\r\n")
	in.Scan()
	fmt.Fprint(conn, `PUSH {"jid":"1f0e7c2ab95d4c33","jobtype":"report","args":[],"queue":"closed"}`+"\r\n")
	in.Scan()
	fmt.Println(in.Text())
	// Output:
	// -ERR this queue is closed
}
