module github.com/fwpsuite/fwp/tools/strangers

go 1.26
