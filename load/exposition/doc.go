// Package exposition writes the figures of a run while it goes on in the text format of Prometheus. The format is a few
// dozen lines, and written here with the standard library: a client library would bring its own registry and histograms
// beside those of load/measure. It serves nothing; a caller hands what WriteTo writes to those who ask.
package exposition
