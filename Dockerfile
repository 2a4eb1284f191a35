# The tools in an image:
#
#   docker build --tag hprof .
#   docker run --rm --user "$(id -u)" --volume "$PWD:/dumps:ro" hprof heap.hprof
#   docker run --rm --entrypoint hprof-gen hprof --objects 1e6 >million.hprof
FROM debian:12-slim AS build
COPY . /source
WORKDIR /source
RUN ci/debian-packages /packages

FROM debian:12-slim
COPY --from=build /packages /packages
RUN apt-get update \
    && apt-get install --yes --no-install-recommends /packages/hprof_*.deb \
    && rm -r /packages /var/lib/apt/lists/*
WORKDIR /dumps
# HotSpot lets only the owner read a dump: hence --user above.
USER nobody
ENTRYPOINT ["hprof-validate"]
