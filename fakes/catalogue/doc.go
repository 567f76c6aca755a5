// Package catalogue is what the catalogues of faults and variations have in common, whatever the protocol. E is the
// event that a hook of the fake sees.
//
// Files: catalogue.go has the rows, [Fault] and [Variation]; table.go reads what a text says of them; hook.go builds
// hooks of conditions and actions; memory.go gives hooks a memory, so that none of them needs a lock.
//
// What builds hooks is marked noinline, here and in the catalogues: it is called once for each of a thousand rows, and
// copies of it were a third of the time of compiling them.
package catalogue
