// Package formats writes results: one table has a row for each format. The command lines get their list of formats,
// their help and their completion from it. Cases of a result ([reports.Suite]) are written here, pages by reports/page
// and reports/html. What is written is complete or not there: a format returns its bytes, and they are written once.
package formats
