package kubernetes

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const page = "../../docs/segments.md"

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

// manifests returns the claim, the job of the parts and the job of the sum.
func manifests(t *testing.T) (claim *core.PersistentVolumeClaim, parts, merge *batch.Job) {
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
	return decode[core.PersistentVolumeClaim](t, all[0]), decode[batch.Job](t, all[1]), decode[batch.Job](t, all[2])
}

func TestManifests(t *testing.T) {
	claim, parts, merge := manifests(t)
	if claim.Kind+" "+claim.APIVersion != "PersistentVolumeClaim v1" {
		t.Errorf("expected a claim, got %s %s", claim.Kind, claim.APIVersion)
	}
	for _, job := range []*batch.Job{parts, merge} {
		if job.Kind+" "+job.APIVersion != "Job batch/v1" {
			t.Errorf("expected a Job of batch/v1, got %s %s", job.Kind, job.APIVersion)
		}
		pod := job.Spec.Template.Spec
		if pod.RestartPolicy != core.RestartPolicyNever {
			t.Errorf("%s may start a container twice", job.Name)
		}
		if !restricted(pod) {
			t.Errorf("%s has rights that it does not need", job.Name)
		}
		if len(pod.Volumes) != 1 || pod.Volumes[0].PersistentVolumeClaim.ClaimName != claim.Name ||
			pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name ||
			pod.Containers[0].VolumeMounts[0].MountPath != "/parts" {
			t.Errorf("%s does not mount the claim at /parts", job.Name)
		}
	}
	if *merge.Spec.BackoffLimit != 0 {
		t.Error("a sum that is INVALID would be made again")
	}
}

// Each pod is one segment, once, and the sum is of the files that they write.
func TestPods(t *testing.T) {
	_, parts, merge := manifests(t)
	spec, n := parts.Spec, *parts.Spec.Completions
	if *spec.CompletionMode != batch.IndexedCompletion || *spec.Parallelism != n {
		t.Error("the pods do not start together, each with its index")
	}
	if *spec.BackoffLimitPerIndex != 0 || spec.BackoffLimit != nil || *spec.PodReplacementPolicy != batch.Failed {
		t.Error("a segment may be started twice, or a pod that fails removes the others")
	}
	args := spec.Template.Spec.Containers[0].Args
	for _, arg := range []string{
		fmt.Sprintf("--segment=@$(JOB_COMPLETION_INDEX)/%d", n), "--start-at=START",
		"--output=json=/parts/$(JOB_COMPLETION_INDEX).json", "--format=json", "--output=-",
	} {
		if !slices.Contains(args, arg) {
			t.Errorf("the parts have %q, expected %s among them", args, arg)
		}
	}
	var files []string
	for i := range n {
		files = append(files, fmt.Sprintf("/parts/%d.json", i))
	}
	if named := merge.Spec.Template.Spec.Containers[0].Args; !slices.Equal(named[:n], files) {
		t.Errorf("the sum is of %q, expected %q", named, files)
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

// The trial touches no cluster that is not named.
func TestTheTrialRefusesWithoutAContext(t *testing.T) {
	for _, args := range [][]string{{"try.sh"}, {"try.sh", ""}, {"try.sh", "some"}, {"try.sh", "", "image"}} {
		cmd := exec.Command("bash", args...)
		cmd.Env = append(os.Environ(), "KUBECTL=false")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "name the context of a cluster and an image") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
}
