#!/bin/sh
# Builds the wheel of plugins/cpu_kernels: tools/build_kernels.sh PYTHON FOLDER
#
# PYTHON has what the build needs (scikit-build-core, cmake, ninja, jaxlib). A machine without a C++
# compiler is given zig's, from a wheel; CXX names another one.
set -e
python=$1 folder=$2
PATH=$(dirname "$python"):$PATH
if [ -z "$CXX" ]; then
    CXX=$(command -v c++ || command -v g++ || command -v clang++ || true)
fi
if [ -z "$CXX" ]; then
    "$python" -m pip --quiet install -c constraints.txt ziglang
    CXX="$python -m ziglang c++"
fi
export CXX PATH
"$CXX" --version 2>/dev/null | sed -n 's/^/C++ compiler: /;1p' || true
"$python" -m pip --quiet wheel --no-deps --no-build-isolation -w "$folder" ./plugins/cpu_kernels
