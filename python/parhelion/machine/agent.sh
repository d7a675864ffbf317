#!/bin/sh
# A remote shell to the hosts of the sandbox, called as MPI's launchers call ssh: agent [options] HOST COMMAND… (so a program of its own, if short)
# Each call has its own process numbers and shared memory; a launcher calls it once per host, so a host's ranks share them.
while true; do
    case $1 in
        -o | -p | -l | -i) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
host=$1
shift
cpus=$(cat "$PARHELION_HOSTS_FOLDER/$host.cpus") || exit 255
# Process numbers are those of other hosts, and of earlier calls, too: whoever names files by them (Open MPI's daemons) must not meet theirs.
TMPDIR=$(mktemp -d "$PARHELION_HOSTS_FOLDER/$host.XXXXXX") || exit 255
export TMPDIR
exec ip netns exec "$host" unshare --uts --mount --ipc --pid --fork --kill-child --mount-proc sh -c '
    hostname "$1"
    mount -t tmpfs none /dev/shm
    exec taskset -c "$2" sh -c "$3"' sh "$host" "$cpus" "$*"
