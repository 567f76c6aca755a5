package measure

import (
	"fmt"
	"math"
	"strconv"
)

// parseSeconds reads seconds with decimals as whole microseconds, rounded.
func parseSeconds(text string) (us int64, err error) {
	const most = 4e9 // about the year 2096, and twice that fits into a time.Duration
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(seconds) <= most) {
		return 0, fmt.Errorf("expected seconds, got %q", text)
	}
	return int64(math.Round(seconds * 1e6)), nil
}
