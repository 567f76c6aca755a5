package input

import "io"

const (
	minBuffer = 4 << 10
	maxKept   = 1 << 20 // a larger buffer is released when nothing is left in it
	minRead   = 512
	maxEmpty  = 100 // reads of nothing without an error before giving up
)

// Reader buffers what it reads from its source until it is discarded. Its buffer grows with the received bytes, never
// by a size that a peer announces, and a buffer of more than 1 MiB is not kept. It is not safe for concurrent use.
type Reader struct {
	Source io.Reader

	buf        []byte
	start, end int   // of what was received and not discarded
	offset     int64 // of start in the stream
	pending    error // of the read that gave the last bytes; returned by the next Fill
}

// Buffered returns the bytes that were received and not discarded. They are valid until the next Fill.
func (r *Reader) Buffered() []byte { return r.buf[r.start:r.end:r.end] }

// Discard removes the first n of the buffered bytes. Their memory stays as it is until the next Fill.
func (r *Reader) Discard(n int) {
	r.start += n
	r.offset += int64(n)
}

// Offset returns how many bytes were discarded: where the buffered bytes begin in the stream.
func (r *Reader) Offset() int64 { return r.offset }

// Fill reads once from the source, as much as there is room for, and blocks as long as the source does. It returns nil
// if there are more bytes than before, else the error of the source; after a deadline it can be called again.
func (r *Reader) Fill() error {
	if err := r.pending; err != nil {
		r.pending = nil
		return err
	}
	r.makeRoom()
	for range maxEmpty {
		n, err := r.Source.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			r.pending = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves the buffered bytes to the front, or doubles the buffer if they fill it, so that a payload in many
// small pieces is copied a bounded number of times.
func (r *Reader) makeRoom() {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > maxKept {
			r.buf = nil
		}
	}
	if len(r.buf)-r.end >= minRead {
		return
	}
	buf := r.buf
	if len(r.buf)-(r.end-r.start) < max(minRead, len(r.buf)/2) {
		buf = make([]byte, max(minBuffer, 2*len(r.buf)))
	}
	r.end = copy(buf, r.buf[r.start:r.end])
	r.start = 0
	r.buf = buf
}
