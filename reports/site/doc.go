// Package site makes the pages of a static site from saved reports: what each server, worker and client does with each
// clause, over its versions. It writes no files: [Site.Build] returns them by their address. Names and texts of reports
// are foreign: an address has nothing of them but small letters, digits, points and hyphens, and reports/html escapes
// the rest.
package site
