package shared

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/fwpsuite/fwp/internal/base/text"
)

const (
	barWidth       = 16 // columns of the bar itself
	minWords       = 30 // columns for the words, without which there is no bar
	redrawInterval = 200 * time.Millisecond
)

// Bar is standard error with a line of progress below everything that is written, from Begin to End. Several goroutines
// may call its methods.
type Bar struct {
	out       io.Writer
	isEnabled bool

	mu       sync.Mutex
	progress *mpb.Progress // nil: there is no line
	line     *mpb.Bar
}

// NewBar makes the standard error of p a Bar. It shows progress if that is wanted and standard error is a terminal.
func (p *Process) NewBar(isEnabled bool) *Bar {
	out := p.Err
	b := &Bar{out: out, isEnabled: isEnabled && p.wantsProgress()}
	p.Err = b
	return b
}

// wantsProgress reports whether there is a progress bar on standard error.
func (p Process) wantsProgress() bool {
	return p.env("CI") == "" && p.env("TERM") != "dumb" && p.onTerminal(p.Err)
}

// Begin shows the line: a bar that is full at share 1, and the first of the parts, as many as the
// terminal has room for. state is called several times a second until End is called, and must not write to the Bar.
func (b *Bar) Begin(state func() (share float64, parts []string)) {
	if !b.isEnabled {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress = mpb.New(mpb.WithOutput(b.out), mpb.WithRefreshRate(redrawInterval), mpb.WithAutoRefresh())
	fill := func(w io.Writer, s decor.Statistics) error {
		share, parts := state()
		// in the last column some terminals begin a new line
		_, err := io.WriteString(w, progressLine(parts, share, s.AvailableWidth-1))
		return err
	}
	b.line = b.progress.MustAdd(1, mpb.BarFillerFunc(fill), mpb.BarRemoveOnComplete(), mpb.BarFillerTrim())
}

// Write writes whole lines above the line of progress.
func (b *Bar) Write(lines []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.progress == nil {
		return b.out.Write(lines)
	}
	return b.progress.Write(lines)
}

// End removes the line. It blocks until that is done; without a Begin it does nothing.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.progress == nil {
		return
	}
	b.line.Abort(true)
	b.progress.Wait()
	b.progress = nil
}

// progressLine returns a line of progress in at most that many columns. No part is cut.
func progressLine(parts []string, share float64, columns int) string {
	bar := ""
	if columns >= barWidth+minWords {
		full := int(min(max(share, 0), 1) * (barWidth - 3))
		bar = "[" + strings.Repeat("=", full) + strings.Repeat(" ", barWidth-3-full) + "] "
	}
	line := ""
	for i, part := range parts {
		if i > 0 {
			part = ", " + part
		}
		part = text.Show(part)
		if utf8.RuneCountInString(bar+line+part) > columns {
			break
		}
		line += part
	}
	return bar + line
}

// terminalWidth returns the columns of the terminal that w, or what a Bar writes to, is; 0 if it is not one or does not
// report them.
func terminalWidth(w io.Writer) int {
	switch writer := w.(type) {
	case *Bar:
		w = writer.out
	case *errorWriter:
		w = writer.Writer
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Clock returns a time in whole seconds, as a line of progress shows it: "12 s", "1m 20s", "2h 5m".
func Clock(d time.Duration) string {
	d = d.Round(time.Second)
	hours, minutes, seconds := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case hours > 0:
		return fmt.Sprintf("%dh %dm", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm %ds", minutes, seconds)
	}
	return fmt.Sprintf("%d s", seconds)
}
