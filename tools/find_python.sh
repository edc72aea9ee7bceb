#!/bin/sh
# Print the path of a Python that can make virtual environments, or nothing and exit with 1.
#
#   tools/find_python.sh          3.11 or newer: $PYTHON if set, else the machine's default first
#   tools/find_python.sh 3.12     exactly that one
#
# A command that is found may still refuse to run (a shim for a version that is not selected), or
# lack ensurepip (a distribution that packages it apart), so each candidate is asked.

suits='
import ensurepip, sys, venv
want = tuple(map(int, sys.argv[1].split("."))) if sys.argv[1] else None
ok = sys.version_info[:2] == want if want else sys.version_info[:2] >= (3, 11)
print(sys.executable) if ok else sys.exit(1)
'

installed() { # the versions that pyenv holds, selected or not
    for root in "${PYENV_ROOT:-}" "${HOME:-}/.pyenv"; do
        for found in "$root"/versions/"${1:-3.1[1-9]}"*/bin/python; do
            if [ -x "$found" ]; then echo "$found"; fi
        done
    done
}

if [ -n "${1:-}" ]; then
    candidates="python$1 $(installed "$1")"
elif [ -n "${PYTHON:-}" ]; then
    candidates="$PYTHON"
else
    candidates="python3 python python3.14 python3.13 python3.12 python3.11 $(installed)"
fi

for candidate in $candidates; do
    if "$candidate" -c "$suits" "${1:-}" 2>/dev/null; then exit 0; fi
done
exit 1
