// Package fakes is a conforming server of the Faktory Work Protocol in memory, in the manner of net/http/httptest: see
// [NewServer]. On request ([Config.Hook]) it breaks one clause, and the checks of the suite are tested on that.
// Packages bugs and variations have such hooks. It shares with package protocols/fwp only writing replies and splitting
// command lines, so that a mistake in one implementation is found by the other. The names in parentheses at the end of
// a comment are sections of the specification.
package fakes
