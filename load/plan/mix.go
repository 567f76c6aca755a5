package plan

// golden is 2^64 divided by the golden ratio, made odd: the step of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// Mix returns a counter-based random number: a pure function of seed and counter whose
// 64 bits are uniform. Close counters give unrelated numbers, and so do close seeds. It
// is safe for concurrent use and does not allocate.
func Mix(seed, counter uint64) uint64 {
	return scramble(scramble(seed+golden) + counter*golden)
}

// scramble is the finalizer of SplitMix64, a bijection of 64 bits.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
