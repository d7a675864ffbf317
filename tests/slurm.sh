#!/bin/bash
# Runs COMMAND beside a Slurm of two nodes, node1 and node2, which are both this machine: tests/slurm.sh COMMAND…
#
# Needs Debian's slurmctld, slurmd, slurm-client, munge and libpmix2, and root, but neither systemd nor control groups. Nothing
# outside a temporary folder is touched, ports but for those below are not used, and all of it ends with COMMAND, whose exit status
# it has. Each node counts all cores of the machine, of which it gives out half where there are enough.
set -uo pipefail

missing=()
for program in slurmctld slurmd srun munged; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || missing+=("$program")
done
if ((${#missing[@]})) || [ "$(id -u)" != 0 ]; then
    echo "slurm.sh: needs root and slurmctld, slurmd, srun and munged (apt-get install slurmctld slurmd slurm-client munge libpmix2)" \
         "${missing[*]:+; missing: ${missing[*]}}" >&2
    exit 77
fi
(($#)) || { echo "slurm.sh: say which command is to be run" >&2; exit 2; }

PATH=$PATH:/usr/sbin
folder=$(mktemp -d /tmp/parhelion-slurm.XXXXXX)
port=${PARHELION_SLURM_PORT:-17817}  # and the three after it
started=()
stop() {
    kill "${started[@]}" 2>/dev/null
    for _ in $(seq 50); do kill -0 "${started[@]}" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "${started[@]}" 2>/dev/null  # a daemon that waits for a step that is gone
    wait 2>/dev/null
    for step in $(pgrep -x slurmstepd); do  # what looks after a step is nobody's child
        tr '\0' '\n' <"/proc/$step/environ" 2>/dev/null | grep -q "^SLURM_CONF=$SLURM_CONF$" && kill -KILL "$step"
    done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

mkdir "$folder"/{state,munge,tmp-node1,tmp-node2}
chmod 755 "$folder"
chmod 711 "$folder/munge"  # munged wants its folders to be its owner's alone
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 400 "$folder/munge/key"
socket=$folder/munge/socket
cores=$(nproc)
half=$((cores / 2))
if ((half)); then  # what a node keeps for itself, the other gives out
    kept1="CpuSpecList=$half-$((cores - 1))" kept2="CpuSpecList=0-$((cores - half - 1))"
fi
cat >"$folder/slurm.conf" <<CONF
ClusterName=parhelion
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdSpoolDir=$folder/spool-%n
TmpFS=$folder/tmp-%n
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
KillWait=2
NodeName=node1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$cores Boards=1 Sockets=1 CoresPerSocket=$cores ThreadsPerCore=1 ${kept1:-} State=UNKNOWN
NodeName=node2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=$cores Boards=1 Sockets=1 CoresPerSocket=$cores ThreadsPerCore=1 ${kept2:-} State=UNKNOWN
PartitionName=all Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf

munged --foreground --force --key-file "$folder/munge/key" --socket "$socket" --pid-file "$folder/munge/pid" \
       --log-file "$folder/munge/log" --seed-file "$folder/munge/seed" 2>"$folder/munged.err" &
started+=($!)
for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
slurmctld -D >"$folder/slurmctld.out" 2>&1 &
started+=($!)
for node in node1 node2; do
    slurmd -D -N "$node" >"$folder/$node.out" 2>&1 &
    started+=($!)
done
all_idle() { [ "$(timeout 5 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; }  # alone it asks a controller that does not answer for minutes
until all_idle || ((SECONDS > 60)); do sleep 0.1; done
if ! all_idle; then
    echo "slurm.sh: the nodes did not come up:" >&2
    tail -n 5 "$folder"/*.err "$folder"/*.out "$folder"/*.log >&2
    exit 77
fi
"$@"
