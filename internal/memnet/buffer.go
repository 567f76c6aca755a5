package memnet

// capacity is how many unread bytes one direction of a connection holds before
// its writer waits. Sockets of real systems have about as much.
const capacity = 256 << 10

// buffer holds the bytes of one direction that were written and not yet read. It
// grows up to capacity.
type buffer struct {
	data []byte
	off  int // data[:off] has been read
}

func (b *buffer) len() int { return len(b.data) - b.off }

// put appends as much of p as there is room for and returns how much that is.
func (b *buffer) put(p []byte) int {
	n := min(len(p), capacity-b.len())
	if b.off > 0 && len(b.data)+n > cap(b.data) {
		b.data = b.data[:copy(b.data, b.data[b.off:])]
		b.off = 0
	}
	b.data = append(b.data, p[:n]...)
	return n
}

// take moves bytes to p and returns how many.
func (b *buffer) take(p []byte) int {
	n := copy(p, b.data[b.off:])
	b.off += n
	if b.off == len(b.data) {
		b.data, b.off = b.data[:0], 0
	}
	return n
}
