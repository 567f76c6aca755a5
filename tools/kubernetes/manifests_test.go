package kubernetes

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const page = "../../docs/kubernetes.md"

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// decode decodes a document strictly: a field that the type does not have, or that stands there twice, is an error.
func decode[T any](t *testing.T, document string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	return into
}

// manifests returns the documents of the page: the service, the job of the coordinator and that of the agents.
func manifests(t *testing.T) (*core.Service, *batch.Job, *batch.Job) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Split(found[1], "\n---\n")...)
	}
	if len(all) != 3 {
		t.Fatalf("%s has %d documents, expected 3", page, len(all))
	}
	return decode[core.Service](t, all[0]), decode[batch.Job](t, all[1]), decode[batch.Job](t, all[2])
}

func TestManifests(t *testing.T) {
	service, coordinator, agents := manifests(t)
	for kind, meta := range map[string]string{
		"Service v1": service.Kind + " " + service.APIVersion,
	} {
		if kind != meta {
			t.Errorf("expected %s, got %s", kind, meta)
		}
	}
	for _, job := range []*batch.Job{coordinator, agents} {
		if job.Kind+" "+job.APIVersion != "Job batch/v1" {
			t.Errorf("expected a Job of batch/v1, got %s %s", job.Kind, job.APIVersion)
		}
		pod := job.Spec.Template.Spec
		if pod.RestartPolicy != core.RestartPolicyNever || *job.Spec.BackoffLimit != 0 {
			t.Errorf("%s may start a pod twice", job.Name)
		}
		env := pod.Containers[0].Env
		if len(env) != 1 || env[0].Name != "FWPBENCH_TOKEN" || env[0].ValueFrom.SecretKeyRef == nil {
			t.Errorf("%s has no token from a secret", job.Name)
		}
	}
	labels := coordinator.Spec.Template.Labels
	for key, value := range service.Spec.Selector {
		if labels[key] != value {
			t.Errorf("the service selects %s=%s, and the coordinator has %v", key, value, labels)
		}
	}
	args := coordinator.Spec.Template.Spec.Containers[0].Args
	if !slices.Contains(args, "--agents=10") || *agents.Spec.Completions != 10 || *agents.Spec.Parallelism != 10 {
		t.Errorf("the numbers of agents differ: %v, %d, %d", args, *agents.Spec.Completions, *agents.Spec.Parallelism)
	}
	if *agents.Spec.CompletionMode != batch.IndexedCompletion || *agents.Spec.PodReplacementPolicy != batch.Failed {
		t.Error("two pods could be the same agent at a time")
	}
	joins := agents.Spec.Template.Spec.Containers[0].Args
	if !slices.Contains(joins, "nats://"+service.Name+":4222") || service.Spec.Ports[0].Port != 4222 {
		t.Errorf("the agents join %v, and the service is %s:%d", joins, service.Name, service.Spec.Ports[0].Port)
	}
}
