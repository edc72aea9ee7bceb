#!/bin/bash
# Open MPI: four processes on this machine.
mpirun -n 4 python train.py

# Two machines. Version 4 tells processes where the first is; give version 5, and MPICH's mpiexec, an
# address of it (and train.py the argument):
#   distributed.initialize(coordinator_address="node1:12345")
mpirun -n 8 --host node1:4,node2:4 python train.py
