// Package html writes a page of package reports as one HTML file, which is complete without scripts and requests
// nothing: pictures are SVG with their colours as attributes, so that they show where a policy such as that of Jenkins
// removes styles and scripts. Behind each picture is a table with what it shows. The result itself is in the file, as
// JSON, and [Data] reads it back. Texts of a page are from servers: everything is escaped, and what is long is cut.
package html
