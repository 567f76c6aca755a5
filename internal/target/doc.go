// Package target finds the server under test: where its address comes from, how
// to connect to it, and the commands by which its operator restarts it, kills it
// or signals its workers.
//
// [Choose] returns the address, a [Server] connects to it, and [Address.Advice]
// explains errors of that. A password is in [Address.Password]
// and nowhere else: no text and no error of this package holds it.
//
// Where: address.go, choose.go (flags and environment), server.go (dialing, with TLS), secrets.go (passwords, and what
// is hidden), advice.go (what is there instead). Starting: start.go, started.go, faktory.go, program.go, supervise.go
// with supervise_*.go, names.go (a program's own /etc/hosts). Ports: port_*.go. Operating: act.go (what is done to a
// server, and whether it took effect), observe.go, instance.go and serving.go with listeners_linux.go,
// operator.go (commands of the user's), disrupt.go, mount_linux.go; other.go has what other systems lack.
package target
