// Package site makes the pages of a static site from saved reports: what each server, worker and client does with each
// clause, over its versions. It writes no files: [Site.Build] returns them by their address.
//
// site.go (reports become subjects with versions, and pages files), address.go (names become addresses, the order of
// versions), history.go (a clause over versions, in words).
//
// Pages: overview.go (the first page, and the clauses), subject.go (a server, a version of it, differences), clause.go
// (a clause and who breaks it).
//
// Names and texts of reports are foreign: an address has nothing of them but small letters, digits, points and hyphens,
// and package html escapes the rest.
package site
