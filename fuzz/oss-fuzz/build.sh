#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: CC, CFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT come from their
# image. Each target gets its seeds, the dictionary and its options. Libraries that the image of the runners lacks lie in $OUT/lib.
set -euo pipefail
cd "$SRC/hprof"

cmake -S . -B "$WORK/build" -G Ninja -DCMAKE_BUILD_TYPE=None -DHPROF_FUZZ=ON -DHPROF_TESTS=OFF \
    "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath,'\$ORIGIN/lib' -Wl,--disable-new-dtags" -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
mapfile -t targets < <(find fuzz -maxdepth 1 -name 'fuzz_*.c' -printf '%f\n' | sed 's/\.c$//' | sort)
cmake --build "$WORK/build" --target "${targets[@]}"

mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
    cp "$WORK/build/fuzz/$target" "$OUT"
    cp fuzz/hprof.dict "$OUT/$target.dict"
    printf '[libfuzzer]\nmax_len = 65536\ntimeout = 25\n' >"$OUT/$target.options"
    seeds=$WORK/seeds/$target
    rm -rf "$seeds"
    mkdir -p "$seeds"
    case $target in
        fuzz_generate | fuzz_fault | fuzz_agent) head -c 64 /dev/zero >"$seeds/zeros" ;; # options, not dumps
        *) find corpus -name '*.hprof' -print0 ;;
    esac >"$WORK/seeds.list"
    find "fuzz/corpora/$target" "fuzz/finds/$target" -type f -print0 >>"$WORK/seeds.list" 2>/dev/null || true
    while IFS= read -r -d '' seed; do # named by hash: many files of corpus/ share a name
        cp "$seed" "$seeds/$(sha256sum "$seed" | cut -c 1-20)"
    done <"$WORK/seeds.list"
    (cd "$seeds" && rm -f "$OUT/${target}_seed_corpus.zip" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
    # All but the C library and what the sanitizers bring.
    ldd "$WORK/build/fuzz/$target" |
        awk '$3 ~ /^\// && $3 !~ /\/(libc|libm|libpthread|libdl|librt|libresolv|libgcc_s|libstdc\+\+)\.so/ { print $3 }' |
        xargs --no-run-if-empty cp --update --target-directory="$OUT/lib"
done
