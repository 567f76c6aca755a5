package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Cookies of HdrHistogram's V2 encoding. 0x10 stands for counts of variable length.
const (
	cookieV2           = 0x1c849303 | 0x10
	cookieV2Compressed = 0x1c849304 | 0x10
)

// encoder writes histograms byte for byte as the library does, in a sixth of the time and a quarter of the memory: see
// BenchmarkEncode. A second of a usual run has nine of them. The library would take some 8 ms and 8 MB for these; with
// one processor, in which no loop runs meanwhile, the generator would be late for 0.8 % of the commands that it times.
type encoder struct {
	plain      []byte
	compressed bytes.Buffer
	zlib       *zlib.Writer
}

// appendTo appends h, compressed and in base64.
func (e *encoder) appendTo(dst []byte, h *hdrhistogram.Histogram) ([]byte, error) {
	e.encode(h)
	e.compressed.Reset()
	e.compressed.Write(make([]byte, 8))
	if e.zlib == nil {
		e.zlib = zlib.NewWriter(&e.compressed)
	} else {
		e.zlib.Reset(&e.compressed)
	}
	if _, err := e.zlib.Write(e.plain); err != nil {
		return dst, err
	}
	if err := e.zlib.Close(); err != nil {
		return dst, err
	}
	out := e.compressed.Bytes()
	binary.BigEndian.PutUint32(out, cookieV2Compressed)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return base64.StdEncoding.AppendEncode(dst, out), nil
}

// encode puts h into e.plain: a header of 40 bytes and the counts up to the last that is not zero.
func (e *encoder) encode(h *hdrhistogram.Histogram) {
	snapshot := h.Export()
	b := binary.BigEndian.AppendUint32(e.plain[:0], cookieV2)
	b = binary.BigEndian.AppendUint32(b, 0) // the length of the counts, see below
	b = binary.BigEndian.AppendUint32(b, 0) // no normalizing offset
	b = binary.BigEndian.AppendUint32(b, uint32(snapshot.SignificantFigures))
	b = binary.BigEndian.AppendUint64(b, uint64(snapshot.LowestTrackableValue))
	b = binary.BigEndian.AppendUint64(b, uint64(snapshot.HighestTrackableValue))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1)) // values are integers
	header := len(b)
	b = appendBuckets(b, snapshot.Counts)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-header))
	e.plain = b
}

// appendBuckets appends each count, or for a run of two zeros or more its negative length, in zigzag LEB128. (That is
// Go's varint while a count is below 2^55; the format has another rule for the ninth byte.)
func appendBuckets(b []byte, counts []int64) []byte {
	zeros := int64(0)
	for _, n := range counts {
		if n == 0 {
			zeros++
			continue
		}
		if zeros == 1 {
			b = append(b, 0)
		} else if zeros > 1 {
			b = binary.AppendVarint(b, -zeros)
		}
		zeros = 0
		b = binary.AppendVarint(b, n)
	}
	return b
}
