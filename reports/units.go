package reports

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// PerSecond returns count for each second of period, and 0 for no time at all, so that no report holds what JSON
// cannot.
func PerSecond(count int64, period time.Duration) float64 {
	if period <= 0 {
		return 0
	}
	return float64(count) / period.Seconds()
}

// Duration writes d with three digits and the unit that suits it: "52.1 us", "1.2 ms", "31 s".
func Duration(d time.Duration) string {
	switch size := d.Abs(); {
	case d == 0:
		return "0"
	case size < time.Microsecond:
		return Digits(float64(d)) + " ns"
	case size < 999_500*time.Nanosecond:
		return Digits(float64(d)/1e3) + " us"
	case size < 999_500*time.Microsecond:
		return Digits(float64(d)/1e6) + " ms"
	default:
		return Digits(float64(d)/1e9) + " s"
	}
}

// Rate returns a number per second as reports write it: "8,300 /s".
func Rate(perSecond float64) string { return Digits(perSecond) + " /s" }

// Time returns a measured time as Duration does, and "< 1 us" for what no histogram tells apart from it.
func Time(d time.Duration) string {
	if d > 0 && d < time.Microsecond {
		return "< 1 us"
	}
	return Duration(d)
}

// Digits writes x with three digits that count, and without noughts at the end; from 1,000 on in full, with commas.
func Digits(x float64) string {
	size := math.Abs(x)
	switch {
	case size >= 99.95:
		return text.GroupDigits(int64(math.Round(x)))
	case size >= 9.995:
		return Trimmed(x, 1)
	case size >= 0.995:
		return Trimmed(x, 2)
	default:
		return Trimmed(x, 3)
	}
}

// Trimmed writes x with that many decimals at most, and without noughts at the end.
func Trimmed(x float64, places int) string {
	s := strconv.FormatFloat(x, 'f', places, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Percent writes a share: "99.8 %". What is not whole is never rounded to 0 or to 100.
func Percent(share float64) string {
	switch {
	case share > 0 && share < 0.0001:
		return "< 0.01 %"
	case share > 0.9999 && share < 1:
		return "> 99.99 %"
	case share < 0.0995 || share > 0.995 && share < 1:
		return Trimmed(share*100, 2) + " %"
	default:
		return Trimmed(share*100, 1) + " %"
	}
}

// Size writes a number of bytes: "41.2 MiB".
func Size(bytes int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case bytes >= gib:
		return Digits(float64(bytes)/gib) + " GiB"
	case bytes >= mib:
		return Digits(float64(bytes)/mib) + " MiB"
	default:
		return Digits(float64(bytes)/kib) + " KiB"
	}
}

// JoinWith returns the parts that are not empty, with separator between them.
func JoinWith(separator string, parts ...string) string {
	var texts []string
	for _, part := range parts {
		if part != "" {
			texts = append(texts, part)
		}
	}
	return strings.Join(texts, separator)
}
