# python MODULE ARGUMENTS...: becomes that module of this folder, in its environment of Python, which is made where there is none.
# Sourced.
python() {
    local here environment
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    environment=$("$here/../venv" "$here/requirements.txt")
    PYTHONPATH=$here exec "$environment/bin/python" -B -m "$@"
}
