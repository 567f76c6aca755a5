// Package results has the results of loads, and what is written from them: the data, the sum of several reports,
// figures by their name, exit code and words, JSON and CSV, and pages for people. A [Load] is that of one run. The
// schemas of the JSON lie beside the code. Nothing here runs a load.
package results
