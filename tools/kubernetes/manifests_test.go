package kubernetes

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
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

// documents returns the documents of the page: the service, the job of the coordinator, that of the agents, and the
// policies of both.
func documents(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.Split(found[1], "\n---\n")...)
	}
	if len(all) != 5 {
		t.Fatalf("%s has %d documents, expected 5", page, len(all))
	}
	return all
}

func TestManifests(t *testing.T) {
	all := documents(t)
	service := decode[core.Service](t, all[0])
	coordinator, agents := decode[batch.Job](t, all[1]), decode[batch.Job](t, all[2])
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
		if !restricted(pod) {
			t.Errorf("%s has rights that it does not need", job.Name)
		}
		for _, mount := range pod.Containers[0].VolumeMounts {
			if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == mount.Name }) {
				t.Errorf("%s mounts %s, which is no volume", job.Name, mount.Name)
			}
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
	if !slices.Contains(joins, "tls://"+service.Name+":4222") || service.Spec.Ports[0].Port != 4222 {
		t.Errorf("the agents join %v, and the service is %s:%d", joins, service.Name, service.Spec.Ports[0].Port)
	}
}

// restricted reports whether a pod keeps to the restricted Pod Security Standard, cannot write its file system, and has
// no account of the cluster.
func restricted(pod core.PodSpec) bool {
	all, one := pod.SecurityContext, pod.Containers[0].SecurityContext
	return all != nil && one != nil && len(pod.Containers) == 1 &&
		*all.RunAsNonRoot && *all.RunAsUser > 0 && all.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault &&
		!*one.AllowPrivilegeEscalation && *one.ReadOnlyRootFilesystem &&
		slices.Equal(one.Capabilities.Drop, []core.Capability{"ALL"}) && !*pod.AutomountServiceAccountToken
}

func TestPolicies(t *testing.T) {
	all := documents(t)
	coordinator, agents := decode[batch.Job](t, all[1]), decode[batch.Job](t, all[2])
	for i, job := range []*batch.Job{coordinator, agents} {
		policy := decode[network.NetworkPolicy](t, all[3+i])
		if policy.Kind+" "+policy.APIVersion != "NetworkPolicy networking.k8s.io/v1" {
			t.Errorf("expected a NetworkPolicy, got %s %s", policy.Kind, policy.APIVersion)
		}
		labels := job.Spec.Template.Labels
		if !maps.Equal(policy.Spec.PodSelector.MatchLabels, labels) {
			t.Errorf("%s selects %v, and the pods have %v", policy.Name, policy.Spec.PodSelector.MatchLabels, labels)
		}
		if !slices.Equal(policy.Spec.PolicyTypes, []network.PolicyType{network.PolicyTypeIngress}) {
			t.Errorf("%s restricts %v, and where the target is it cannot know", policy.Name, policy.Spec.PolicyTypes)
		}
		if job == agents {
			if len(policy.Spec.Ingress) > 0 {
				t.Errorf("%s lets %v in, and nothing reaches an agent", policy.Name, policy.Spec.Ingress)
			}
			continue
		}
		rule := policy.Spec.Ingress[0]
		if len(policy.Spec.Ingress) != 1 || !maps.Equal(rule.From[0].PodSelector.MatchLabels, agents.Spec.Template.Labels) ||
			rule.Ports[0].Port.IntValue() != 4222 {
			t.Errorf("%s lets others in than agents: %v", policy.Name, policy.Spec.Ingress)
		}
	}
}
