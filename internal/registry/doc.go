// Package registry has an [Entry] and a file for each protocol that the programs test: its suite, how it is
// explored and loaded, its embedded server with bugs and variations, and what does not work with it, with the
// reasons. It lies above the protocols. The command lines, internal/proof/selftest and internal/proof/suitetest loop
// over [All] or ask such a value, and know no protocol by name.
package registry
