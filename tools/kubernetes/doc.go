// Package kubernetes has no code: its test decodes the manifests of docs/kubernetes.md with the types of the Kubernetes
// API. They are a module of their own, because these types are needed for nothing else.
package kubernetes
