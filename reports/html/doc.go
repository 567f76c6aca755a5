// Package html writes a page of package reports as one HTML file, which is complete without scripts and requests
// nothing: pictures are SVG with their colours as attributes, so that they show where a policy such as that of Jenkins
// removes styles and scripts. Behind each picture is a table with what it shows. The result itself is in the file, as
// JSON, and Data reads it back.
//
// html.go writes the file and the blocks of a page: table.go tables, talk.go conversations and scripts; data.go writes
// the result in it. figure.go writes pictures: chart.go (curves and maps over axes), forest.go (ratios),
// matrix.go (clauses). badge.go makes a small picture apart.
//
// Texts of a page are from servers: everything is escaped, and what is long is cut.
package html
