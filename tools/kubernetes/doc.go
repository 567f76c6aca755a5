// Package kubernetes has no code: its test decodes the manifests of docs/segments.md with the types of the Kubernetes
// API, and try.sh runs them. They are a module of their own, because these types are needed for nothing else.
package kubernetes
