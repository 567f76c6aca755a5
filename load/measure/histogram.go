package measure

import (
	"iter"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The buckets of a histogram, as the library has them for lowest, highest and digits: blocks of 1,024. Those of the
// first block are a unit wide, and so are those of the second; from there on a block's are twice as wide as those of
// the one before. So a block holds the values that have their highest bit in common.
const (
	unitBits  = 9 // a unit is 512 ns, the greatest power of two that is not above lowest
	blockBits = 10
	blocks    = 24 // the last one holds highest
)

// Histogram counts values, in nanoseconds, in the buckets of an HdrHistogram of three significant digits from 1 µs to
// 1 h. The zero value is empty.
//
// The library's has all of its buckets from the beginning, 192 KiB, and goes through them to add, copy, encode or empty
// it. This one has only the blocks that have got a value: one to three of 8 KiB in a usual second.
type Histogram struct {
	counts [blocks]int64                  // how many values a block has
	blocks [blocks]*[1 << blockBits]int64 // nil before the first value; they stay when the histogram is emptied
}

// Bucket is how many values are in a range, its ends included.
type Bucket struct{ From, To, Count int64 }

// place returns the bucket of a value of 0 to highest.
func place(v int64) (block, bucket uint) {
	units := uint64(v) >> unitBits
	if units < 1<<blockBits {
		return 0, uint(units)
	}
	block = uint(bits.Len64(units)) - blockBits
	return block, uint(units>>(block-1)) - 1<<blockBits
}

// bounds returns the least value of a bucket, and how many values it holds.
func bounds(block, bucket int) (from, width int64) {
	if block == 0 {
		return int64(bucket) << unitBits, 1 << unitBits
	}
	return int64(1<<blockBits+bucket) << (unitBits + block - 1), 1 << (unitBits + block - 1)
}

// record counts one value of 0 to highest.
func (h *Histogram) record(v int64) {
	block, bucket := place(v)
	if h.blocks[block] == nil {
		h.blocks[block] = new([1 << blockBits]int64)
	}
	h.blocks[block][bucket]++
	h.counts[block]++
}

// Count returns how many values there are.
func (h *Histogram) Count() (sum int64) {
	for _, n := range h.counts {
		sum += n
	}
	return sum
}

// Buckets goes through the buckets that have a value, in ascending order.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for block, values := range h.counts {
			if values == 0 {
				continue
			}
			for i, n := range h.blocks[block] {
				if n == 0 {
					continue
				}
				from, width := bounds(block, i)
				if !yield(Bucket{From: from, To: from + width - 1, Count: n}) {
					return
				}
			}
		}
	}
}

// min returns the least value of the first bucket with a value, 0 if there is none.
func (h *Histogram) min() int64 {
	for b := range h.Buckets() {
		return b.From
	}
	return 0
}

// mean returns the mean of the values, each taken as the middle of its bucket.
func (h *Histogram) mean() (mean float64) {
	total := float64(h.Count())
	for b := range h.Buckets() {
		mean += float64(b.Count) * float64(b.From+(b.To-b.From+1)/2) / total
	}
	return mean
}

// at returns the value of that rank, from 1 to Count, as the greatest of its bucket; 0 if there is none.
func (h *Histogram) at(rank int64) int64 {
	for block, values := range h.counts {
		if rank > values {
			rank -= values
			continue
		}
		for i, n := range h.blocks[block] {
			if rank -= n; rank <= 0 {
				from, width := bounds(block, i)
				return from + width - 1
			}
		}
	}
	return 0
}

// add adds the counts of other, which is not changed.
func (h *Histogram) add(other *Histogram) {
	for block, values := range other.counts {
		if values == 0 {
			continue
		}
		from, into := other.blocks[block], h.blocks[block]
		if into == nil {
			into = new([1 << blockBits]int64)
			h.blocks[block] = into
		}
		for i, n := range from {
			into[i] += n
		}
		h.counts[block] += values
	}
}

// reset empties h and keeps its memory.
func (h *Histogram) reset() {
	for block, values := range h.counts {
		if values != 0 {
			clear(h.blocks[block][:])
		}
	}
	clear(h.counts[:])
}

// library returns h as the library has it.
func (h *Histogram) library() *hdrhistogram.Histogram {
	counts := make([]int64, blocks<<blockBits)
	for block, values := range h.counts {
		if values != 0 {
			copy(counts[block<<blockBits:], h.blocks[block][:])
		}
	}
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: lowest, HighestTrackableValue: highest, SignificantFigures: digits, Counts: counts,
		IntegerToDoubleConversionRatio: 1,
	})
}

// ofLibrary returns a histogram of the library, which has lowest, highest and digits, as one of this package.
func ofLibrary(theirs *hdrhistogram.Histogram) *Histogram {
	h := new(Histogram)
	for i, n := range theirs.Export().Counts {
		if n == 0 {
			continue
		}
		block := i >> blockBits
		if h.blocks[block] == nil {
			h.blocks[block] = new([1 << blockBits]int64)
		}
		h.blocks[block][i&(1<<blockBits-1)] = n
		h.counts[block] += n
	}
	return h
}
