// Package rule reads rules by which a fake misbehaves: at a step, if so, each n-th time, after that, do this. The words
// of a fake, its steps, fields and acts, are its [Vocabulary]; the package knows no fake. There are no loops, no
// arithmetic and no functions: what needs them is written in Go, as a hook. docs/rules.md has the language.
package rule
