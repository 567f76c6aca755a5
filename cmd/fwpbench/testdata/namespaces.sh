#!/bin/sh
# Puts a load on a server by agents that have a network namespace each, joined by a bridge.
#
#     unshare --net sh namespaces.sh FWPBENCH 'SERVER COMMAND' AGENTS [FLAG OF fwpbench run]...
#
# The server has to listen at 10.77.0.1:7419, and to print a line when it does. All interfaces are in the namespace that
# unshare makes, so no packet leaves the machine, and they end with it. The report is on standard output.
set -eu
fwpbench=$1 server=$2 agents=$3
shift 3
export FWPBENCH_TOKEN=namespaces
ip link set lo up
ip link add br0 type bridge
ip address add 10.77.0.1/16 dev br0
ip link set br0 up

folder=$(mktemp -d)
started=
end() {
	for pid in $started; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$folder"
}
trap end EXIT

mkfifo "$folder/ready"
$server > "$folder/ready" &
started=$!
read -r ready < "$folder/ready"
"$fwpbench" run --url tcp://10.77.0.1:7419 --agents "$agents" --listen 10.77.0.1:4222 --no-progress "$@" &
coordinator=$!
started="$started $coordinator"
for i in $(seq "$agents"); do
	mkfifo "$folder/$i"
	# The agent waits for its interface, which can be moved only into a namespace that is there.
	unshare --net sh -c '
		read -r go < "$1"
		ip link set lo up
		ip address add 10.77.1.$2/16 dev eth0
		ip link set eth0 up
		exec "$3" agent nats://10.77.0.1:4222 --name "agent-$2" --processors 1
	' sh "$folder/$i" "$i" "$fwpbench" 2>"$folder/$i.log" &
	agent=$!
	started="$started $agent"
	until [ "$(readlink "/proc/$agent/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do :; done
	ip link add "v$i" type veth peer name eth0 netns "$agent"
	ip link set "v$i" master br0
	ip link set "v$i" up
	echo go > "$folder/$i"
done
code=0
wait "$coordinator" || code=$?
exit "$code"
