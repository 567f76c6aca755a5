package reports

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
)

// PerSecond returns count divided by over in seconds, and 0 for no time at all, so that no report holds what JSON
// cannot.
func PerSecond(count int64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return float64(count) / over.Seconds()
}

// short writes d with three digits and the unit that suits it: "52.1 us", "1.2 ms", "31 s".
func short(d time.Duration) string {
	switch size := d.Abs(); {
	case d == 0:
		return "0"
	case size < time.Microsecond:
		return digits(float64(d)) + " ns"
	case size < 999_500*time.Nanosecond:
		return digits(float64(d)/1e3) + " us"
	case size < 999_500*time.Microsecond:
		return digits(float64(d)/1e6) + " ms"
	default:
		return digits(float64(d)/1e9) + " s"
	}
}

// Time returns a measured time as reports write it, with three digits and the unit that suits it: "52.1 us", "1.2 ms",
// "31 s".
func Time(d time.Duration) string { return measured(d) }

// Rate returns a number per second as reports write it: "8,300 /s".
func Rate(perSecond float64) string { return digits(perSecond) + " /s" }

// measured is short for what was measured: no histogram tells apart what is below a microsecond.
func measured(d time.Duration) string {
	if d > 0 && d < time.Microsecond {
		return "< 1 us"
	}
	return short(d)
}

// digits writes x with three digits that count, and without noughts at the end; from 1,000 on in full, with commas.
func digits(x float64) string {
	size := math.Abs(x)
	switch {
	case size >= 99.95:
		return text.Grouped(int64(math.Round(x)))
	case size >= 9.995:
		return trimmed(x, 1)
	case size >= 0.995:
		return trimmed(x, 2)
	default:
		return trimmed(x, 3)
	}
}

func trimmed(x float64, places int) string {
	s := strconv.FormatFloat(x, 'f', places, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// percent writes a share: "99.8 %". What is not whole is never rounded to 0 or to 100.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.0001:
		return "< 0.01 %"
	case share > 0.9999 && share < 1:
		return "> 99.99 %"
	case share < 0.0995 || share > 0.995 && share < 1:
		return trimmed(share*100, 2) + " %"
	default:
		return trimmed(share*100, 1) + " %"
	}
}

// size writes a number of bytes: "41.2 MiB".
func size(bytes int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case bytes >= gib:
		return digits(float64(bytes)/gib) + " GiB"
	case bytes >= mib:
		return digits(float64(bytes)/mib) + " MiB"
	default:
		return digits(float64(bytes)/kib) + " KiB"
	}
}
