#!/bin/bash
# Do the tests notice? Makes small wrong changes (mutants) in a copy of the tree, one at a time, and runs tests until one
# fails. `make mutants` runs it.
#
#   tests/mutants/run.sh [NAME...]
#
# MUTANTS are the lists (all in tests/mutants; `list` describes their format), NAMEs are those to make (all). For each mutant:
# the unit tests that it names, those that belong to the changed file (they include its header, or are called after it),
# then the scripts and page tests that it names. With ALL=1 all other unit and system tests follow, those first whose names
# have words of the file's path. Tests that fail without any change notice nothing: they are named and left out.
#
# The copy lies in BUILD/mutants; the tree itself is only read. Exit status 1: a mutant was not noticed, its text does not
# occur exactly once, it does not build, or a test fails without it.
# shellcheck disable=SC2086,SC2046,SC2206 # lists of words: no test has a space in its name
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${MAKE:=make}" "${BUILD:=build}" "${MUTANTS:=tests/mutants/list tests/mutants/further}"
mkdir -p "$BUILD/mutants/build" || exit 1
exec 8>"$BUILD/mutants/lock"
flock -n 8 || { echo "mutants: another run is using $BUILD/mutants" >&2; exit 1; }
scratch=$(cd "$BUILD/mutants" && pwd)
tree=$scratch/tree
jobs=-j$(nproc)
case " ${MAKEFLAGS:-} " in *" -j"* | *--jobserver*) jobs= ;; esac
# A mutant may hang; and of random kills (record_kills.sh) a few are enough.
export TEST_SECONDS=${TEST_SECONDS:-200} KILLS=${KILLS:-20} JOBS=${JOBS:-$(nproc)}

# ---- the copy --------------------------------------------------------------------------------------------------------

# The first time it starts from what is already built.
if [ ! -e "$scratch/build/config.mk" ] && [ -e "$BUILD/config.mk" ]; then
    cp -a "$BUILD/config.mk" "$BUILD/obj" "$BUILD/plugin" "$BUILD/page.html" "$scratch/build/" 2>/dev/null
    find "$scratch/build" -name '*.d' -exec sed -i "s,^$BUILD/,../build/," {} +
fi
rm -rf "$tree"
mkdir "$tree"
git ls-files -coz --exclude-standard | while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done |
    tar -c --null -T - | tar -x -C "$tree" || exit 1
[ ! -d viewer/dist ] || cp -a viewer/dist "$tree/viewer/"
# No link to the folder: `npm ci` in the copy would empty it.
[ ! -d viewer/node_modules ] || cp -al viewer/node_modules "$tree/viewer/" 2>/dev/null || cp -a viewer/node_modules "$tree/viewer/"
# Objects of a mutant are newer than the source that is back in its place.
touch "$scratch/changed"
(cd "$tree" && while IFS= read -r file; do [ ! -e "$file" ] || touch "$file"; done <"$scratch/changed")
cd "$tree" || exit 1

# build TEST..., runs TEST...: in the copy.
build() {
    case " $*" in *' ../'* | *' tests/'* | *' viewer/browser/'*) ;; *) return 0 ;; esac
    "$MAKE" --no-print-directory $jobs BUILD=../build "TESTS=$*" tests-built >"$scratch/log" 2>&1
}
runs() { "$MAKE" --no-print-directory BUILD=../build "TESTS=$*" tests >"$scratch/log" 2>&1; }

# fails TEST...: prints those of the built tests that fail. One that is skipped does not.
fails() {
    local test status c=()
    for test in "$@"; do
        status=0
        case $test in
        viewer/test/*) (cd viewer && timeout "$TEST_SECONDS" node_modules/.bin/vitest run "${test#viewer/}") >"$scratch/log" 2>&1 || status=$? ;;
        viewer/browser/*) (cd viewer && RINGSCOPE=$scratch/build/ringscope npm run --silent browser -- "${test##*/}") >"$scratch/log" 2>&1 || status=$? ;;
        *) c+=("$test") ;;
        esac
        [ $status = 0 ] || [ $status = 77 ] || echo "$test"
    done
    [ ${#c[@]} = 0 ] || runs "${c[@]}" || {
        sed -n 's/^  FAILED   \([^ ]*\) .*/\1/p' "$scratch/log" | while IFS= read -r test; do
            for each in "${c[@]}"; do [ "${each##*/}" != "$test" ] || echo "$each"; done
        done | grep . || echo "${c[0]}" # it did not get as far as to say which
    }
}

# ---- the list --------------------------------------------------------------------------------------------------------

names=()
declare -A file_of from_of to_of tests_of
read_list() {
    local list=$1 line key='' value name='' number=0
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        case $line in
        '#'*) continue ;;
        '') key= && continue ;;
        ' '*) value=${line#"${line%%[! ]*}"} ;; # goes on
        *': '* | *:)
            key=${line%%:*} value=${line#*:} value=${value# }
            if [ "$key" = name ]; then
                name=$value
                [ -z "${file_of[$name]+there}" ] || wrong "$list:$number: there are two called $name"
                names+=("$name") file_of[$name]='' from_of[$name]='' to_of[$name]='' tests_of[$name]=''
                continue
            fi
            ;;
        *) wrong "$list:$number: $line" ;;
        esac
        case $key in
        file) file_of[$name]=$value ;;
        from) from_of[$name]+="${from_of[$name]:+ }$value" ;;
        to) to_of[$name]+="${to_of[$name]:+ }$value" ;;
        tests) tests_of[$name]+=" $value" ;;
        *) wrong "$list:$number: $line" ;;
        esac
    done <"$list"
}
wrong() {
    echo "mutants: $1" >&2
    exit 1
}

# path NAME: where a test called NAME in the list is.
path() {
    local found
    case $1 in
    test_*) found=tests/unit/$1.c ;;
    *.sh) found=tests/system/$1 ;;
    *.test.ts) found=viewer/test/$1 ;;
    browser/*) found=viewer/$1.ts ;;
    *) found=/none ;;
    esac
    [ -e "$found" ] || { echo "mutants: there is no test $1" >&2; return 1; }
    case $1 in test_*) echo "../build/tests/$1" ;; browser/*) echo "viewer/$1" ;; *) echo "$found" ;; esac
}
units() { # FILE.c of a unit test...
    local each
    for each in "$@"; do [ ! -e "$each" ] || basename "$each" .c | sed 's,^,../build/tests/,'; done
}

# place NAME: the file that has the text, if exactly one has it exactly once; else why not, with status 1. White space stands
# for any white space and comments.
# change NAME FILE: makes the change.
# shellcheck disable=SC2016 # the variables are perl's
search='BEGIN { our $p = join "(?:\\s|/\\*(?:(?!\\*/).)*\\*/|//[^\\n]*)+", map quotemeta, split " ", $ENV{FROM} }'
place() {
    local files found
    [ -n "${from_of[$1]}" ] || { echo "there is no text to look for"; return 1; }
    [ -e "${file_of[$1]}" ] || { echo "there is no ${file_of[$1]}"; return 1; }
    mapfile -t files < <(find "${file_of[$1]}" -type f)
    found=$(FROM=${from_of[$1]} perl -0777 -ne "$search"' print "$ARGV\n" while /$p/gs' "${files[@]}")
    case $(grep -c . <<<"$found") in
    0) echo "the text is not in ${file_of[$1]}" && return 1 ;;
    1) echo "$found" ;;
    *) echo "the text is there $(wc -l <<<"$found") times: $(sort -u <<<"$found" | head -n 3 | tr '\n' ' ')" && return 1 ;;
    esac
}
change() { FROM=${from_of[$1]} TO=${to_of[$1]} perl -0777 -i -pe "$search"' s/$p/$ENV{TO}/s' "$2"; }

# near FILE: the unit tests that belong to it.
near() {
    local base dir
    base=$(basename "${1%.*}") dir=$(basename "$(dirname "$1")")
    case $1 in
    viewer/*)
        printf '%s\n' viewer/test/*.test.ts
        return
        ;;
    esac
    units $(grep -lF "\"${1#src/}\"" tests/unit/test_*.c) $(grep -lF "\"$(sed 's,^src/,,; s,c$,h,' <<<"$1")\"" tests/unit/test_*.c)
    while :; do
        units "tests/unit/test_$base.c" "tests/unit/test_${base}_"*.c
        case $base in *_*) base=${base%_*} ;; *) break ;; esac
    done
    case $1 in src/*/*/*) units "tests/unit/test_$dir.c" "tests/unit/test_${dir}_"*.c ;; esac
}
# rest FILE: all others, those first whose names have words of its path.
rest() {
    case $1 in viewer/*) return ;; esac
    units tests/unit/test_*.c
    printf '%s\n' tests/system/*.sh | awk -v path="${1#src/}" '
        { n = split(path, word, "[/_.]"); hits = 0
          for (i = 1; i <= n; i++) if (length(word[i]) > 2 && index($0, word[i])) hits++
          print hits, $0 }' | sort -s -k 1,1nr | cut -d ' ' -f 2
}

# ---- the work --------------------------------------------------------------------------------------------------------

for list in $MUTANTS; do
    [ -e "$OLDPWD/$list" ] && list=$OLDPWD/$list
    [ -e "$list" ] || wrong "$list: no such file"
    read_list "$list"
done
if [ $# -gt 0 ]; then
    for name in "$@"; do [ -n "${file_of[$name]+there}" ] || wrong "there is no mutant $name"; done
    names=("$@")
fi

declare -A where why first_of then_of broken
needed=()
bad=0
for name in "${names[@]}"; do
    where[$name]=$(place "$name") || { why[$name]=${where[$name]} where[$name]='' && continue; }
    units_named='' others_named=''
    for test in ${tests_of[$name]}; do
        test=$(path "$test") || { bad=1 && continue; }
        case $test in ../*) units_named+=" $test" ;; *) others_named+=" $test" ;; esac
    done
    first_of[$name]="$(printf '%s\n' $units_named $(near "${where[$name]}") $others_named | awk 'NF && !seen[$0]++' | tr '\n' ' ')"
    then_of[$name]=
    [ -z "${ALL:-}" ] || then_of[$name]=$(rest "${where[$name]}" | grep -vxF "$(tr ' ' '\n' <<<"${first_of[$name]}" | grep .)")
    needed+=(${first_of[$name]} ${then_of[$name]})
done
mapfile -t needed < <(printf '%s\n' "${needed[@]}" | awk 'NF && !seen[$0]++')
echo "${#names[@]} mutants; ${#needed[@]} tests without any:"
if [ ${#needed[@]} -gt 0 ]; then
    build "${needed[@]}" || { tail -n 20 "$scratch/log" && echo "mutants: the tree does not build" && exit 1; }
    : >"$scratch/changed"
    for test in $(fails "${needed[@]}"); do
        broken[$test]=1
        bad=1
        echo "  FAILED         $test (left out)"
        sed -n '/^  FAILED/,/^  ok/s/^    | /    | /p' "$scratch/log" | head -n 20
    done
fi

# notices NAME: the test that fails, if one does. Built one by one: linking takes longer than most tests.
notices() {
    local test found
    for test in ${first_of[$1]}; do
        [ -z "${broken[$test]:-}" ] || continue
        build "$test" || return 2
        found=$(fails "$test")
        [ -z "$found" ] || { echo "${found##*/}" && return; }
    done
    local batch=()
    for test in ${then_of[$1]}; do [ -n "${broken[$test]:-}" ] || batch+=("$test"); done
    while [ ${#batch[@]} -gt 0 ]; do # unit tests, then some scripts at a time
        local n=8
        case ${batch[0]} in ../*) n=$(printf '%s\n' "${batch[@]}" | grep -c '^\.\./') ;; esac
        build "${batch[@]:0:n}" || return 2
        found=$(fails "${batch[@]:0:n}")
        [ -z "$found" ] || { basename -a $found | tr '\n' ' ' && return; }
        batch=("${batch[@]:n}")
    done
    return 1
}

noticed=0 missed=0 unfit=0
for name in "${names[@]}"; do
    begin=$SECONDS
    if [ -z "${where[$name]}" ]; then
        printf '  %-14s %-28s %s\n' "DOES NOT APPLY" "$name" "${why[$name]}"
        unfit=$((unfit + 1))
        continue
    fi
    file=${where[$name]}
    cp -p "$file" "$scratch/original"
    echo "$file" >>"$scratch/changed"
    change "$name" "$file"
    by=$(notices "$name")
    case $? in
    0) noticed=$((noticed + 1)) said=noticed ;;
    1) missed=$((missed + 1)) said="NOT NOTICED" by="($(wc -w <<<"${first_of[$name]} ${then_of[$name]}") tests)" ;;
    *) unfit=$((unfit + 1)) said="DOES NOT BUILD" by=$(grep -m 1 error "$scratch/log") ;;
    esac
    cp "$scratch/original" "$file"
    printf '  %-14s %-28s %s %d s\n' "$said" "$name" "$by" $((SECONDS - begin))
done
echo "$noticed noticed, $missed not noticed$([ $unfit = 0 ] || echo ", $unfit that do not fit the code")"
[ $((missed + unfit + bad)) = 0 ]
