package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxPayload is the largest padding of a job: 16 MiB.
const MaxPayload = 16 << 20

// Size is a distribution of payload sizes in bytes: a weighted list of ranges, or
// lognormal if Median is above 0. The zero Size is 0 bytes.
type Size struct {
	List   []SizeShare
	Median float64 // lognormal: half of the sizes are smaller
	Sigma  float64 // lognormal: standard deviation of the logarithm
}

// SizeShare is a range of sizes, uniformly distributed, and its weight in a list.
type SizeShare struct {
	Min, Max int
	Weight   float64
}

// Constant is the distribution of one size, in bytes.
func Constant(bytes int) Size { return Size{List: []SizeShare{{bytes, bytes, 1}}} }

const sizeExample = "100, 2KiB, 100-2000, 100:80,10000:20 or lognormal:500,1.2"

// ParseSize reads a constant "100", a range "100-2000", a list with weights
// "100:80,10000:20" (of ranges too) or "lognormal:500,1.2" (median and standard
// deviation of the logarithm). Sizes are bytes up to 16 MiB; KiB, MiB, kB and MB may
// follow. A lognormal size beyond 16 MiB counts as 16 MiB. The error is a *Problem.
func ParseSize(text string) (Size, error) {
	if rest, found := strings.CutPrefix(text, "lognormal:"); found {
		return parseLognormal(rest)
	}
	var s Size
	parts := strings.Split(text, ",")
	for _, part := range parts {
		sizes, weight, hasWeight := strings.Cut(strings.TrimSpace(part), ":")
		if hasWeight != (len(parts) > 1) {
			return Size{}, newProblem(text, "mixes sizes with and without weights", "a weight for each size of a list",
				"write it as in "+sizeExample)
		}
		share, err := parseSizeShare(sizes)
		if err == nil && hasWeight {
			share.Weight, err = parseFloat(weight, 1e-6, 1e9, sizeExample)
		}
		if err != nil {
			return Size{}, err
		}
		s.List = append(s.List, share)
	}
	return s, nil
}

func parseLognormal(text string) (Size, error) {
	first, second, found := strings.Cut(text, ",")
	if !found {
		return Size{}, newProblem("lognormal:"+text, "has only one number", "two numbers: median and sigma",
			"write it as in "+
				"lognormal:500,1.2")
	}
	median, err := ParseBytes(first)
	if err != nil {
		return Size{}, err
	}
	sigma, err := parseFloat(strings.TrimSpace(second), 0, 10, "lognormal:500,1.2")
	return Size{Median: float64(max(1, median)), Sigma: sigma}, err
}

func parseSizeShare(text string) (SizeShare, error) {
	low, high, err := parseSpan(text, "size", ParseBytes)
	return SizeShare{low, high, 1}, err
}

// ParseBytes reads a number of bytes up to 16 MiB: "100", "2KiB", "1MB". The error is a *Problem.
func ParseBytes(text string) (int, error) {
	digits, factor := text, int64(1)
	for _, unit := range []struct {
		name   string
		factor int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"kB", 1e3}, {"MB", 1e6}, {"B", 1}} {
		if cut, found := strings.CutSuffix(text, unit.name); found {
			digits, factor = cut, unit.factor
			break
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 10, 64)
	const expected = "a size from 0 to 16MiB"
	if err != nil {
		return 0, newProblem(text, "is not a valid size", expected, "write it as in "+sizeExample)
	}
	if n < 0 || n > MaxPayload/factor {
		return 0, newProblem(text, "is out of range", expected, "choose a size in that range")
	}
	return int(n * factor), nil
}

// String is what ParseSize reads.
func (s Size) String() string {
	if len(s.List) == 0 && s.Median == 0 {
		return "0"
	}
	if s.Median > 0 {
		return fmt.Sprintf("lognormal:%s,%s", formatNumber(s.Median), formatNumber(s.Sigma))
	}
	parts := make([]string, len(s.List))
	for i, share := range s.List {
		parts[i] = strconv.Itoa(share.Min)
		if share.Max != share.Min {
			parts[i] += "-" + strconv.Itoa(share.Max)
		}
		if len(s.List) > 1 {
			parts[i] += ":" + formatNumber(share.Weight)
		}
	}
	return strings.Join(parts, ",")
}

// sizes draws from a Size.
type sizes struct {
	list        []SizeShare
	pick        picker
	mu, sigma   float64
	isLognormal bool
}

func (s Size) sampler() sizes {
	weights := make([]float64, len(s.List))
	for i, share := range s.List {
		weights[i] = share.Weight
	}
	return sizes{list: s.List, pick: newPicker(weights), mu: math.Log(s.Median), sigma: s.Sigma, isLognormal: s.Median > 0}
}

// largest is the largest size.
func (s *sizes) largest() int {
	if s.isLognormal {
		return MaxPayload
	}
	size := 0
	for _, share := range s.list {
		size = max(size, share.Max)
	}
	return size
}

// at is the size that belongs to two random numbers.
func (s *sizes) at(listRandom, sizeRandom uint64) int {
	if s.isLognormal {
		normal := math.Sqrt2 * math.Erfinv(float64(2*unit(sizeRandom))-1)
		return int(min(math.Round(math.Exp(s.mu+float64(s.sigma*normal))), MaxPayload))
	}
	if len(s.list) == 0 {
		return 0
	}
	share := s.list[s.pick.at(listRandom)]
	return share.Min + int(scaleTo(sizeRandom, uint64(share.Max-share.Min)+1))
}
