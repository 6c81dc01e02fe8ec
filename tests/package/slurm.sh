#!/bin/bash
# usage: slurm.sh SOURCE_DIR BIN_DIR
# A farm on a Slurm cluster of this machine alone: devices as a job array, a tune over them, until the
# devices leave by themselves. Exit 77: no Slurm, or not root.
set -eu
source=$1 bin=$2
for program in slurmctld slurmd munged sbatch; do
    command -v $program >/dev/null || { echo "there is no $program"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || exit 77
work=$(mktemp -d)
started=
stop() {
    # shellcheck disable=SC2086
    kill $started 2>/dev/null || true
    pkill -f "$work" || true
    wait
    rm -rf "$work"
}
trap stop EXIT
chmod 755 "$work"
export PATH="$bin:$PATH" SLURM_CONF=$work/slurm.conf
host=$(hostname -s)
mkdir -p "$work/munge" "$work/state" "$work/spool" /run/munge
head -c 1024 /dev/urandom >"$work/munge/key"
chmod 700 "$work/munge"
chmod 600 "$work/munge/key"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --seed-file="$work/munge/seed" --log-file="$work/munge/log" 2>/dev/null &
started="$started $!"
cat >"$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
slurmctld -D >"$work/slurmctld.log" 2>&1 &
started="$started $!"
slurmd -D >"$work/slurmd.log" 2>&1 &
started="$started $!"
for _ in $(seq 60); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
    sleep 1
done
[ "$(sinfo -h -o %T)" = idle ] || { cat "$work"/*.log "$work/munge/log"; echo "no node of Slurm is there"; exit 1; }

cd "$work"
hone tracker --listen tcp://127.0.0.1:19190 --insecure >tracker.log 2>&1 &
started="$started $!"
cp "$source/tests/programs/matmul_relu.py" model.py
# the files as they are, but for the keys and the number of nodes
sed 's/^exec hone-runner /exec hone-runner --insecure /' "$source/packages/clusters/slurm/devices.sbatch" >devices.sbatch
sbatch -Q --array=1-1 --export=ALL,HONE_TRACKER=tcp://127.0.0.1:19190,HONE_IDLE_EXIT=15s devices.sbatch
timeout 240 hone tune model.py --db tuned.db --trials 4 --device-key rack --no-device wait -q \
    --tracker tcp://127.0.0.1:19190 --insecure || { cat slurm-*.out ./*.log; exit 1; }
for _ in $(seq 90); do
    [ -z "$(squeue -h)" ] && break
    sleep 1
done
[ -z "$(squeue -h)" ] || { squeue; echo "the device did not leave"; exit 1; }
grep -q 'nothing to do for 15 s: leaving' slurm-*.out || { cat slurm-*.out; exit 1; }
hone db check tuned.db

# time is up: what runs is given its time, and the job ends well
sbatch -Q --array=1-1 --export=ALL,HONE_TRACKER=tcp://127.0.0.1:19190,HONE_IDLE_EXIT=1h devices.sbatch
for _ in $(seq 60); do
    hone farm status --tracker tcp://127.0.0.1:19190 --insecure 2>/dev/null | grep -q idle && break
    sleep 1
done
scancel --signal=USR1 --batch -u "$(id -un)"
for _ in $(seq 60); do
    [ -z "$(squeue -h)" ] && break
    sleep 1
done
tail -q -n 1 slurm-*.out | grep -c 'stopped; ' | grep -q 2 || { cat slurm-*.out; exit 1; }

# a tune as a job, beside a device of its own: when its time is up it is queued again, and goes on
hone-runner --tracker tcp://127.0.0.1:19190 --insecure --device-key rack --cache cache >runner.log 2>&1 &
started="$started $!"
sed 's/^hone tune /hone tune --insecure /' "$source/packages/clusters/slurm/tune.sbatch" >tune.sbatch
job=$(sbatch --parsable --cpus-per-task=1 --export=ALL,HONE_TRACKER=tcp://127.0.0.1:19190,HONE_TRIALS=100000 \
    tune.sbatch model.py job.db)
for _ in $(seq 60); do
    hone db top job.db 2>/dev/null | grep -q matmul_relu && break
    sleep 1
done
hone db top job.db || { scontrol show job "$job"; cat "slurm-$job.out" runner.log; exit 1; }
scancel --signal=USR1 --batch "$job"
for _ in $(seq 60); do
    [ "$(squeue -h -j "$job" -o %T)" = PENDING ] && break
    sleep 1
done
[ "$(squeue -h -j "$job" -o %T)" = PENDING ] || { squeue; cat "slurm-$job.out"; echo "the tune was not queued again"; exit 1; }
hone db check job.db
scancel "$job"
echo "devices came by Slurm, and left when idle and when told; a tune whose time was up was queued again"
