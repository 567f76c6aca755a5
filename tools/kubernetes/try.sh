#!/usr/bin/env bash
# Runs the manifests of docs/segments.md with little load, in a namespace of its own that it deletes.
#
#     try.sh CONTEXT IMAGE       IMAGE is what Containerfile makes, under a name that the nodes of the cluster can get
#
# First four segments on a server that is started after them: pushed, delivered and acknowledged have to equal what the
# server counts. Then a pod is deleted under load, and the sum has to be INVALID and to name its segment. Where the
# cluster has no default StorageClass the parts are taken from the logs, and the sum is made here, with go run.
# KUBECTL is another kubectl. Needs bash and Go.
set -euo pipefail
context=${1:-} image=${2:-}
if [ -z "$context" ] || [ -z "$image" ]; then
	echo "try.sh: name the context of a cluster and an image: make kubernetes-try CONTEXT=NAME IMAGE=IMAGE" >&2
	exit 2
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
space=fwpbench-try-$$ folder=$(mktemp -d)
read -ra kubectl <<< "${KUBECTL:-kubectl}"
k() { "${kubectl[@]}" --context "$context" --namespace "$space" "$@"; }
fail() { echo "try.sh: $*" >&2; exit 1; }

k create namespace "$space"
end() {
	k delete namespace "$space" --wait=false || true
	rm -rf "$folder"
}
trap end EXIT
storage=$(k get storageclass -o jsonpath='{.items[?(@.metadata.annotations.storageclass\.kubernetes\.io/is-default-class=="true")].metadata.name}')

# manifest NAME writes one of the page with the image, and less load.
manifest() {
	awk -v name="\`$1\`:" '$0 == name { found = 1 } found && /^```$/ { exit } found && on { print } found && /^```yaml$/ { on = 1 }' \
		docs/segments.md | sed -e "s|registry.example/fwp|$image|" -e "s|START|$start|" -e 's|20000/s|200/s|' -e 's|=1m|=10s|' \
		-e 's|=2000$|=20|' -e 's|cpu: .*|cpu: 50m|' -e 's|memory: .*|memory: 128Mi|' -e 's|ReadWriteMany|ReadWriteOnce|' |
		if [ -n "$storage" ]; then cat; else
			awk '/^kind: PersistentVolumeClaim/ { claim = 1 } /^---/ { claim = 0; next } claim || /^apiVersion: v1$/ { next }
				/claimName:/ { next } { sub("persistentVolumeClaim:", "emptyDir: {}"); print }'
		fi
}

# finish JOB waits until a job is over, well or not.
finish() {
	until k get job "$1" -o jsonpath='{.status.conditions[*].type}' | grep -qwE 'Complete|Failed'; do sleep 1; done
}

# report JOB [SELECTOR] prints the JSON that the pod of a job has printed: lines of standard error may be in it, and for
# a moment after the end of the pod the log may lack its last lines.
report() {
	local log
	for _ in 1 2 3 4 5; do
		log=$(k logs --tail=-1 -l "job-name=$1${2:-}" | sed -n '/^{$/,/^}$/{/^fwpbench: /!p}') || true
		case $log in *$'\n}') break ;; esac
		sleep 1
	done
	[ -z "$log" ] || echo "$log"
}

# parts starts the parts, whose load begins in so many seconds.
parts() {
	start=$(date -u -d "+$1 seconds" +%FT%TZ)
	manifest parts.yaml | k apply -f -
}

# whole makes the sum of the parts, in whole.json.
whole() {
	finish fwpbench
	if [ -n "$storage" ]; then
		manifest merge.yaml | sed 's|--output=-|--format=json|; /--output=json/d' | k apply -f -
		finish fwpbench-merge
		report fwpbench-merge > "$folder/whole.json"
	else
		for i in 0 1 2 3; do
			report fwpbench ",batch.kubernetes.io/job-completion-index=$i" > "$folder/part-$i.json"
		done
		go run ./cmd/fwpbench merge "$folder"/part-{0,1,2,3}.json --format json > "$folder/whole.json" || true
	fi
	k delete job,pvc --all --wait # the next sum must not find parts of this one
}

# count KEY [FILE] prints a number of the account of the jobs.
count() { sed -n '/^  "jobs": {$/,/^  }/p' "${2:-$folder/whole.json}" | sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p"; }

parts 60
k run faktory --image "$image" --labels app=faktory --port 7419 --expose --restart Never \
	--command -- /usr/bin/fwpcheck serve --listen 0.0.0.0 --port 7419
whole
k create job count --image "$image" -- /usr/bin/fwpbench run --url tcp://faktory:7419 --jobs 1 --producers 1 \
	--consumers 1 --no-progress --format json
finish count
processed=$(report count | sed -n 's/.*"total_processed": *\([0-9]*\).*/\1/p' | head -n 1)
echo "pushed $(count pushed), delivered $(count delivered), acknowledged $(count acked); the server: $processed"
for key in pushed delivered acked; do
	[ "$(count $key)" = "$processed" ] || fail "$key is not what the server has processed"
done
[ "$processed" -gt 0 ] || fail "nothing was pushed"

parts 60
sleep 65 # its load goes on for ten seconds
k delete pod -l job-name=fwpbench,batch.kubernetes.io/job-completion-index=2 --grace-period=0 --force
whole
grep -qF 'what segment 3/4 did is not known' "$folder/whole.json" ||
	fail "the sum does not say that segment 3/4 is missing: $(grep '"what"' "$folder/whole.json")"
grep -qE '"what": "(segment 3/4|part .*2.json): ' "$folder/whole.json" || fail "the sum is not INVALID"
echo "all well"
