// Package browser has no code: its tests open the HTML reports in a headless browser. They are a module of their own,
// because what drives the browser is needed for nothing else.
package browser
