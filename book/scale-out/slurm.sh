#!/bin/bash
# Grades a class on a Slurm cluster, one part of it in each task of an array:
#
#   sbatch --array=1-10 slurm.sh
#   lmbook homework merge parts/*/01 --out graded/01
#
# The folders below must be on a disk that all nodes see. A task that was killed or requeued goes on where it stopped.
#SBATCH --job-name=lmbook-grade
#SBATCH --cpus-per-task=2
#SBATCH --mem=6G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --output=grade-%A-%a.log
set -euo pipefail

COURSE="${COURSE:-course/01}"
SUBMISSIONS="${SUBMISSIONS:-submissions/01}"
ROSTER="${ROSTER:-roster.csv}"

export OMP_NUM_THREADS=1
exec lmbook homework grade "$COURSE" "$SUBMISSIONS" --roster "$ROSTER" \
  --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --out "parts/$SLURM_ARRAY_TASK_ID" \
  --jobs "$SLURM_CPUS_PER_TASK" --resume
