// Package target finds the server under test: where its address comes from, how to connect to it, and the commands by
// which its operator restarts it, kills it or signals its workers. [Choose] returns the address, a [Server] connects to
// it, and [Address.Advice] explains errors of that. A password is in [Address.Password] and nowhere else: no text and
// no error holds it. Only here, and in the packages below, are other processes started, signalled and watched; a test
// has the list of exceptions.
package target
