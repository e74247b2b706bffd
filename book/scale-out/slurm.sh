#!/bin/bash
# Grades a class on a Slurm cluster, one part of it in each task of an array, in a folder that all nodes see:
#
#   sbatch --array=1-10 slurm.sh
#   lmbook homework merge parts/*/01 --out graded/01
#
# A task whose node is lost goes back into the queue and goes on where it stopped. To run parts again by hand, say of how
# many parts they are: PARTS=10 sbatch --array=3,7 slurm.sh
#SBATCH --job-name=lmbook-grade
#SBATCH --cpus-per-task=2
#SBATCH --mem=6G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=grade-%A-%a.log
set -euo pipefail

COURSE="${COURSE:-course/01}"
SUBMISSIONS="${SUBMISSIONS:-submissions/01}"
ROSTER="${ROSTER:-roster.csv}"
PARTS="${PARTS:-$SLURM_ARRAY_TASK_COUNT}"

export OMP_NUM_THREADS=1
exec lmbook homework grade "$COURSE" "$SUBMISSIONS" --roster "$ROSTER" \
  --part "$SLURM_ARRAY_TASK_ID/$PARTS" --out "parts/$SLURM_ARRAY_TASK_ID" \
  --jobs "$SLURM_CPUS_PER_TASK" --resume
