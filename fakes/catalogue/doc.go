// Package catalogue is what the catalogues of bugs and variations have in common, whatever the protocol: rows, what a
// text says of them, and hooks with their memory. E is the event that a hook of the fake sees. What
// builds hooks is marked noinline, here and in the catalogues: it is called once for each of a thousand rows, and
// copies of it were a third of the time of compiling them.
package catalogue
