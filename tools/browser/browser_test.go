package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// reportsFolder has the golden files of the reports, which are what is opened.
const reportsFolder = "../../reports/html/testdata"

// jenkins is the policy under which Jenkins serves the files of a job.
const jenkins = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'"

// browserOf returns the path of a browser. Without one the test is skipped, unless FWP_BROWSER is "required".
func browserOf(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("FWP_BROWSER") == "required" {
		t.Fatal("no browser was found: install Debian's chromium-headless-shell")
	}
	t.Skip("no browser was found: install Debian's chromium-headless-shell")
	return ""
}

// start returns a context whose first action starts a browser.
func start(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browserOf(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	allocated, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocated)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// tab returns a context with a tab of its own.
func tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	must(t, chromedp.Do(ctx))
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// site serves the reports: below /plain/ as they are, below /jenkins/ with its policy.
func site(t *testing.T) (url string, reports []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(reportsFolder, "*.html.golden"))
	must(t, err)
	if len(files) < 4 {
		t.Fatalf("%d reports in %s", len(files), reportsFolder)
	}
	for _, file := range files {
		reports = append(reports, strings.TrimSuffix(filepath.Base(file), ".golden"))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		folder, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		body, err := os.ReadFile(filepath.Join(reportsFolder, filepath.Base(name)+".golden"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if folder == "jenkins" {
			w.Header().Set("Content-Security-Policy", jenkins)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, reports
}

// widths are those of a desk and of a telephone.
var widths = []int64{1280, 390}

func scheme(name string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	}
}

// Each report in both schemes and at both widths: it requests nothing but itself, says nothing on the console, every
// figure is there (an exploration has none) with a title and a table, nothing is wider than the page, and colours can
// be told apart.
func TestReports(t *testing.T) {
	browser := start(t)
	url, reports := site(t)
	for _, name := range reports {
		for _, colours := range []string{"light", "dark"} {
			for _, width := range widths {
				t.Run(name+" "+colours+" "+map[int64]string{1280: "wide", 390: "narrow"}[width], func(t *testing.T) {
					look(t, tab(t, browser), url+"/plain/"+name, colours, width)
				})
			}
		}
	}
}

func look(t *testing.T, ctx context.Context, url, colours string, width int64) {
	requests, console := watch(ctx)
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(t, err)
	must(t, scheme(colours)(ctx))
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url)))
	for _, asked := range requests() {
		if asked != url {
			t.Errorf("requested %s", asked)
		}
	}
	for _, said := range console() {
		t.Errorf("on the console: %s", said)
	}
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](inspect))
	must(t, err)
	for _, w := range wrong {
		t.Error(w)
	}
	if folder := os.Getenv("FWP_PICTURES"); folder != "" {
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		must(t, err)
		file := strings.NewReplacer("/", "_", " ", "-").Replace(t.Name()) + ".png"
		must(t, os.WriteFile(filepath.Join(folder, file), picture, 0o600))
	}
	if (colours == "light") == (width == widths[0]) { // it takes seconds: each scheme and each width once
		axe(t, ctx)
	}
}

// watch returns what was requested and what was said on the console so far.
func watch(ctx context.Context) (requests, console func() []string) {
	var mu sync.Mutex
	var asked, said []string
	sent, messages := chromedp.Events(ctx, network.RequestWillBeSent), chromedp.Console(ctx)
	go func() {
		for e, err := range sent {
			if err != nil {
				return
			}
			mu.Lock()
			asked = append(asked, e.Request.URL)
			mu.Unlock()
		}
	}()
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			mu.Lock()
			said = append(said, m.String())
			mu.Unlock()
		}
	}()
	read := func(list *[]string) func() []string {
		return func() []string {
			mu.Lock()
			defer mu.Unlock()
			return append([]string(nil), *list...)
		}
	}
	return read(&asked), read(&said)
}

// inspect returns what is wrong with the pictures and the page.
const inspect = `(() => {
  const wrong = [];
  const parse = (c) => c.match(/[\d.]+/g).slice(0, 3).map(Number);
  const light = (c) => { const [r, g, b] = parse(c).map((v) => { v /= 255;
    return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const page = getComputedStyle(document.body).backgroundColor;
  const enough = (what, colour, least, on) => { const c = contrast(colour, on || page);
    if (c < least) wrong.push(what + ': contrast ' + c.toFixed(2) + ' of ' + colour + ' on ' + (on || page)); };
  const figures = document.querySelectorAll('figure');
  if (!figures.length && !location.pathname.endsWith('/explore.html')) wrong.push('no figure');
  figures.forEach((f, i) => {
    const svg = [...f.querySelectorAll('svg')].find((s) => s.checkVisibility()), box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    if (box.width < 100 || box.height < 20) wrong.push('figure ' + i + ' has no size');
    if (!svg.querySelector('title').textContent || !svg.querySelector('desc').textContent)
      wrong.push('figure ' + i + ' has no title or no description');
    if (!f.querySelector('details table tbody tr')) wrong.push('figure ' + i + ' has no table');
    const b = svg.getBBox();
    if (b.x < view.x - 1 || b.y < view.y - 1 || b.x + b.width > view.x + view.width + 1 ||
      b.y + b.height > view.y + view.height + 1)
      wrong.push('figure ' + i + ' is larger than its box: ' + [b.x, b.y, b.width, b.height].map(Math.round));
    svg.querySelectorAll('text').forEach((t) => { if (!t.closest('defs')) {
      const fill = getComputedStyle(t).fill; enough('text ' + t.textContent, fill, 4.5); } });
    const words = [...svg.querySelectorAll('text')].filter((t) => !t.closest('defs') && t.textContent.trim());
    const boxes = words.map((t) => t.getBoundingClientRect());
    boxes.forEach((a, j) => boxes.forEach((c, k) => {
      const w = Math.min(a.right, c.right) - Math.max(a.left, c.left);
      const h = Math.min(a.bottom, c.bottom) - Math.max(a.top, c.top);
      if (j < k && w > 1 && h > a.height / 4) wrong.push('figure ' + i + ': "' + words[j].textContent + '" covers "' +
        words[k].textContent + '"'); }));
    svg.querySelectorAll('.curve').forEach((c) => enough('curve', getComputedStyle(c).stroke, 3));
    svg.querySelectorAll('defs g').forEach((g) => { const fill = getComputedStyle(g.querySelector('rect')).fill;
      if (fill !== 'none') { enough('square', fill, 3); enough('letter', getComputedStyle(g.querySelector('text')).fill,
        4.5, fill); } });
  });
  document.querySelectorAll('.scroll:has(> .cards), figure > .scroll').forEach((box) => {
    if (box.scrollWidth > box.clientWidth + 1) wrong.push('cut at its right side: ' + box.getAttribute('aria-label')); });
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the page: ' +
    document.documentElement.scrollWidth + ' of ' + innerWidth);
  return wrong;
})()`

// axe runs axe-core, which npm installs, on the page.
func axe(t *testing.T, ctx context.Context) {
	t.Helper()
	script, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("FWP_BROWSER") == "required" {
			t.Fatal(err)
		}
		t.Log("axe-core is not there: npm ci installs it")
		return
	}
	must(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](string(script)+";undefined")))
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document).then((r) => r.violations.filter((v) =>
		v.impact !== 'minor').map((v) => v.impact + ' ' + v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) +
		' ' + n.failureSummary).join(' | ')))`, chromedp.EvalAwaitPromise))
	must(t, err)
	for _, f := range found {
		t.Errorf("axe-core: %s", f)
	}
}

// The report is complete without scripts: its text is the same.
func TestWithoutScripts(t *testing.T) {
	browser := start(t)
	url, reports := site(t)
	for _, name := range reports {
		texts := map[bool]string{}
		for _, off := range []bool{false, true} {
			ctx := tab(t, browser)
			_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: off})
			must(t, err)
			must(t, chromedp.Do(ctx, chromedp.Navigate(url+"/plain/"+name)))
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText.replace(/\\s+/g, ' ')"))
			must(t, err)
			texts[off] = text
		}
		if len(texts[true]) < 100 || texts[true] != texts[false] {
			t.Errorf("%s: %d characters with scripts, %d without, and not the same", name, len(texts[false]), len(texts[true]))
		}
	}
}

// Under the policy of Jenkins there are neither styles nor scripts: the pictures are there, with their colours.
func TestUnderJenkins(t *testing.T) {
	browser := start(t)
	url, reports := site(t)
	for _, name := range reports {
		ctx := tab(t, browser)
		must(t, chromedp.Do(ctx, chromedp.Navigate(url+"/jenkins/"+name)))
		wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`(() => {
			const wrong = [];
			if (getComputedStyle(document.body).maxWidth !== 'none') wrong.push('the style was applied');
			const figures = [...document.querySelectorAll('figure svg')].filter((s) => s.checkVisibility());
			if (!figures.length && !location.pathname.endsWith('/explore.html')) wrong.push('no figure');
			figures.forEach((svg, i) => {
				const box = svg.getBoundingClientRect();
				if (box.width < 700 || box.height < 20) wrong.push('figure ' + i + ' has no size');
				const colours = new Set([...svg.querySelectorAll('rect, line, polyline, path, g')].flatMap((e) =>
					[getComputedStyle(e).fill, getComputedStyle(e).stroke]));
				if (colours.size < 3) wrong.push('figure ' + i + ' has no colours');
			});
			return wrong;
		})()`))
		must(t, err)
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
	}
}

// Printed, a report has pages.
func TestPrinted(t *testing.T) {
	browser := start(t)
	url, reports := site(t)
	for _, name := range reports {
		ctx := tab(t, browser)
		must(t, chromedp.Do(ctx, chromedp.Navigate(url+"/plain/"+name)))
		pdf, err := chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
			printed, err := cdp.Call(ctx, t, page.PrintToPDF, page.PrintToPDFParams{})
			return printed.Data, err
		})
		must(t, err)
		if pages := strings.Count(string(pdf), "/Type /Page\n") + strings.Count(string(pdf), "/Type /Page "); pages == 0 ||
			len(pdf) < 10_000 {
			t.Errorf("%s: a PDF of %d bytes with %d pages", name, len(pdf), pages)
		}
	}
}

// A curve that is clicked at disappears, a clause that is not asked for too, and a link opens the table that it leads
// to.
func TestScript(t *testing.T) {
	browser := start(t)
	url, _ := site(t)
	ctx := tab(t, browser)
	must(t, chromedp.Do(ctx, chromedp.Navigate(url+"/plain/load.html")))
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
		const figure = document.querySelector('figure.chart'), key = figure.querySelector('.key');
		key.dispatchEvent(new MouseEvent('click', {bubbles: true}));
		const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect();
		svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2, clientY: box.top + 50}));
		return getComputedStyle(figure.querySelector('.curve')).display + ' ' + key.getAttribute('aria-pressed') + ' ' +
			figure.querySelector('output').textContent;
	})()`))
	must(t, err)
	if !strings.HasPrefix(got, "none false time since the start ") || !strings.Contains(got, "achieved 5,0") {
		t.Errorf("the chart: %s", got)
	}
	must(t, chromedp.Do(ctx, chromedp.Navigate(url+"/plain/check.html#FWP-PUSH-02")))
	got, err = chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
		const open = document.getElementById('FWP-PUSH-02').closest('details').open;
		const input = document.querySelector('.tool input');
		input.value = 'push fail';
		input.dispatchEvent(new Event('input'));
		const words = open + ' ' + document.querySelector('.tool span').textContent + ' ' +
			[...document.querySelectorAll('.clauses tbody tr')].filter((r) => r.checkVisibility()).length;
		input.value = '';
		document.querySelector('.tile[data-word=warn]').click();
		return words + ' ' + [...document.querySelectorAll('.clauses tbody tr')].filter((r) => r.checkVisibility())
			.every((r) => r.children[2].textContent.startsWith('warn'));
	})()`))
	must(t, err)
	if got != "true 3 of 39 0 true" {
		t.Errorf("the clauses: %s", got)
	}
}
