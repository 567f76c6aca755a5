// Package golden is for tests only. It compares what they write with files, and writes these with -update. It has
// values with every field set, so that one that is forgotten is noticed. It says how much the tests do: by default a
// sample (of the bugs and variations, and of long searches), and everything with the environment variable FWP_SLOW=1.
package golden
