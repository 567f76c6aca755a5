package reports_test

import (
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

func init() {
	reports.RenderText = func(p reports.Page, o reports.TextOptions) []byte {
		return page.Text(p, page.TextOptions(o))
	}
}
