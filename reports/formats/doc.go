// Package formats writes results: one table has a row for each format. The command lines get their list of formats,
// their help and their completion from it.
//
// formats.go has the table; junit.go, sarif.go and github.go write the cases of a result (see
// [reports.Suite]), and location.go has their places in files. Pages are written by reports/page and reports/html.
//
// What is written is complete or not there: a format returns its bytes, and they are written once.
package formats
