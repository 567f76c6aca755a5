// Package target is a server under test that somebody else runs: where its
// address comes from, how to connect to it, and the commands by which its
// operator restarts it, kills it or signals its workers.
//
// [Choose] says which server is meant, a [Server] connects to it, and [Advice]
// tells what to do when that does not work. A password is in [Address.Password]
// and nowhere else: no text and no error of this package holds it.
package target
